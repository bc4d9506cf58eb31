"""Check that our pairs are exactly those that GloVe's `cooccur` counted in the same text.

check_pairs.py GLOVE_FOLDER OUR_FOLDER...

`cooccur -symmetric 1` counts each pair as (w1, w2) and as (w2, w1), also if both words are the same. So its matrix is C
+ Cᵀ, where C has our forward pairs of all offsets. Its records are sorted by the first word. They are compared in bands
of words, so that memory is bounded for any number of records.
"""

import sys
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import scipy.sparse as sp

from bitcipher.counts.pairs import iter_pairs
from bitcipher.counts.segment import read_words

RECORD = np.dtype([("left", "<i4"), ("right", "<i4"), ("count", "<f8")])
BAND_RECORDS = 1 << 25  # 0.5 GB of records, and about 3 GB for both matrices


def read_vocabulary(file: Path) -> tuple[pa.LargeStringArray, np.ndarray]:
    """Return GloVe's words in the order of their numbers, and their counts."""
    pairs = [line.rsplit(b" ", 1) for line in file.read_bytes().splitlines()]
    words = pa.array([word.decode() for word, _ in pairs], pa.large_string())
    return words, np.array([int(count) for _, count in pairs])


def numbers_of_ours(folder: str, words: pa.LargeStringArray, counts: np.ndarray) -> np.ndarray:
    """Return GloVe's number, from 0, of each of our word numbers, (V,) int32."""
    table = read_words([f"{folder}/counts"])
    positions = pc.index_in(table["word"].combine_chunks(), words)
    if len(table) != len(words) or positions.null_count:
        sys.exit("The words differ.")
    positions = positions.to_numpy()
    if (counts[positions] != table["count"].to_numpy()).any():
        sys.exit("The counts of words differ.")
    numbers = np.empty(len(words), np.int32)
    numbers[table["number"].to_numpy()] = positions
    return numbers


def bands(lefts: np.ndarray, words: int) -> Iterator[tuple[slice, int, int]]:
    """Yield bands: a slice of the records, and the range of words whose records it contains."""
    start = first = 0
    while first < words:
        end, stop = len(lefts), words
        if start + BAND_RECORDS < len(lefts):
            cut = lefts[start + BAND_RECORDS]
            end, stop = bisect_left(lefts, cut, start), int(cut) - 1
            if end == start:  # one word has more records than a band
                end, stop = bisect_right(lefts, cut, start), int(cut)
        yield slice(start, end), first, stop
        start, first = end, stop


def symmetric_band(folder: str, numbers: np.ndarray, first: int, stop: int) -> sp.csr_array:
    """Return the rows of C + Cᵀ for the words from `first` up to `stop`."""
    blocks = []
    for block in iter_pairs(f"{folder}/counts", len(numbers)):
        lefts, rights = np.repeat(numbers[block.left], block.length), numbers[block.right]
        for rows, columns in ((lefts, rights), (rights, lefts)):
            inside = (rows >= first) & (rows < stop)
            blocks.append((rows[inside] - first, columns[inside], block.count[inside]))
    rows, columns, counts = (np.concatenate(column) for column in zip(*blocks, strict=True))
    return sp.csr_array((counts, (rows, columns)), shape=(stop - first, len(numbers)))


def check(glove: Path, ours: str) -> None:
    """Compare all records, and exit with a message at the first difference."""
    words, counts = read_vocabulary(glove / "vocab.txt")
    numbers = numbers_of_ours(ours, words, counts)
    records = np.memmap(glove / "cooccurrences.bin", RECORD, "r")
    for band, first, stop in bands(records["left"], len(words)):
        left, right, count = (np.ascontiguousarray(records[band][name]) for name in RECORD.names)
        shape = (stop - first, len(words))
        theirs = sp.csr_array((count, (left - 1 - first, right - 1)), shape=shape)
        found = symmetric_band(ours, numbers, first, stop)
        for matrix in (theirs, found):
            matrix.sort_indices()
        if not all(np.array_equal(getattr(theirs, x), getattr(found, x)) for x in ("indptr", "indices", "data")):
            sys.exit(f"The pairs of the words from {first} up to {stop} differ.")
    print(f"{len(records):,} records equal")


if __name__ == "__main__":
    for folder in sys.argv[2:]:
        check(Path(sys.argv[1]), folder)

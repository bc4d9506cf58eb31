"""Generate text with any number of distinct words, most of which occur once.

    python tests/benchmarks/make_distinct_words.py --words 2e8 --out corpus

Writes plain text, a document per line. Each fifth token is one of 50,000 frequent words of four letters, whose
frequencies follow Zipf's law. The others are new words of six letters, in an order that is as good as random, so each
file has words of the whole alphabet. The same options give the same bytes. Two frequent words are never within four
words of each other, so the vocabulary has no pairs: build it with `--mode cat`, because mode spectral needs some.
"""

import argparse
from pathlib import Path

import numpy as np

FREQUENT_WORDS = 50_000
NEW_WORDS = 4  # after each frequent word
GROUPS = 25  # groups of a frequent and several new words in a document
DOCUMENTS = 1 << 14  # written at a time
MAX_BITS = 28  # 2²⁸ words have six letters
FILE_BYTES = 64 << 20


def main() -> None:
    """Generate a corpus."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--words", type=float, required=True, help=f"number of distinct words, up to 2^{MAX_BITS}")
    parser.add_argument("--out", type=Path, required=True, help="folder of the files, which must not exist")
    options = parser.parse_args()
    if options.words > 1 << MAX_BITS:
        parser.error(f"--words must be at most 2^{MAX_BITS}")
    options.out.mkdir(parents=True)
    random = np.random.default_rng(1)
    written, file = 0, 0
    while written < options.words:
        with open(options.out / f"{file:05d}.txt", "wb") as stream:
            while written < options.words and stream.tell() < FILE_BYTES:
                stream.write(make_documents(written, random).tobytes())
                written += DOCUMENTS * GROUPS * NEW_WORDS
        file += 1
    print(f"{written + FREQUENT_WORDS:,} distinct words at most, {file} files")


def make_documents(first: int, random: np.random.Generator) -> np.ndarray:
    """Return the bytes of documents with the new words from number `first` on, (documents, bytes) uint8."""
    groups = DOCUMENTS * GROUPS
    ranks = np.exp(random.random(groups) * np.log(FREQUENT_WORDS)).astype(np.uint64)
    numbers = np.arange(first, first + groups * NEW_WORDS, dtype=np.uint64)
    numbers = numbers * np.uint64(0x9E3779B1) & np.uint64((1 << MAX_BITS) - 1)  # a bijection, as the factor is odd
    new = spell(numbers, 6).reshape(groups, -1)
    documents = np.concatenate([spell(ranks, 4), new], axis=1).reshape(DOCUMENTS, -1)
    documents[:, -1] = ord("\n")
    return documents


def spell(numbers: np.ndarray, letters: int) -> np.ndarray:
    """Return words of a fixed number of letters, each followed by a space, (numbers, letters + 1) uint8."""
    words = np.full((len(numbers), letters + 1), ord(" "), np.uint8)
    for place in range(letters):
        words[:, place] = ord("a") + numbers % np.uint64(26)
        numbers = numbers // np.uint64(26)
    return words


if __name__ == "__main__":
    main()

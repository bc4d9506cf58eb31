"""Merge the counts of shards, take logarithms and multiply by the code, alternately with ours and with SciPy.

multiply_counts.py FOLDER WINDOW RUNS BITS,BITS… DATA...

Each source file is a shard. Both sides get the same matrices in memory, one per shard and offset, with ranks as rows
and columns. SciPy also gets the dense code. Prints the CPU seconds of every run as JSON. The results must be the same.
"""

import json
import sys
import time
from collections.abc import Callable

import numpy as np
import pyarrow as pa
import scipy.sparse as sp
from prepare import read_texts

from bitcipher.cipher import BitCipher
from bitcipher.counts.context_window import ContextWindow
from bitcipher.counts.merge import merge_rows
from bitcipher.counts.merged_counts import MergedCounts
from bitcipher.counts.pairs import PairBlock, concatenate, iter_pairs
from bitcipher.counts.segment import read_words, write_part
from bitcipher.counts.segment_words import merge_words
from bitcipher.counts.shard_counts import count_shard
from bitcipher.embedding import noise
from bitcipher.embedding.cipher_embedding import CipherEmbedding
from bitcipher.vocabulary import NO_WORDS, Vocabulary
from pipelines.ingest.sources import list_sources
from pipelines.merge.vocabulary import CandidateWords, choose_vocabulary
from pipelines.options import BuildOptions
from pipelines.tokenizers.registry import make_tokenizer

Parts = list[list[sp.csr_array]]  # per shard, one matrix for each offset from 1


def count_sources(data: list[str], folder: str, window: int) -> tuple[Vocabulary, Parts]:
    """Return the vocabulary of all sources, and the counts of each source."""
    tokenizer = make_tokenizer("spacy", lowercase=True)
    shards, passages = [], 0
    for source in list_sources(data):
        texts = pa.array(list(read_texts([source.uri])), pa.large_string())
        counts = count_shard(tokenizer.tokenize(texts), ContextWindow(window))
        shards.append(f"{folder}/{len(shards)}")
        columns = (counts.words, counts.numbers, counts.counts, counts.passages)
        write_part(shards[-1], *columns, counts.pairs)
        passages += counts.total_passages
    words = CandidateWords(0, merge_words([[shard] for shard in shards]), NO_WORDS)
    vocabulary = choose_vocabulary(words, passages, BuildOptions())
    return vocabulary, [read_matrices(shard, vocabulary, window) for shard in shards]


def read_matrices(shard: str, vocabulary: Vocabulary, window: int) -> list[sp.csr_array]:
    """Return the counts of one shard as one matrix per offset, with ranks as rows and columns."""
    table = read_words([shard])
    rows = concatenate(iter_pairs(shard, len(table)))
    ranks = np.empty(len(table), np.int32)
    ranks[table["number"].to_numpy()] = vocabulary.ranks(table["word"].combine_chunks())
    lefts, offsets = (np.repeat(column, rows.length) for column in (ranks[rows.left], rows.offset))
    rights = ranks[rows.right]
    matrices = []
    for offset in range(1, window + 1):
        here = offsets == offset
        positions = (lefts[here], rights[here])
        matrices.append(sp.csr_array((rows.count[here], positions), shape=(len(vocabulary), len(vocabulary))))
    return matrices


def as_rows(matrices: list[sp.csr_array]) -> PairBlock:
    """Return matrices of counts as pairs."""
    blocks = []
    for offset, matrix in enumerate(matrices, 1):
        lengths = np.diff(matrix.indptr).astype(np.int64)
        lefts = np.flatnonzero(lengths).astype(np.int32)
        offsets = np.full(len(lefts), offset, np.int16)
        blocks.append(PairBlock(lefts, offsets, lengths[lefts], matrix.indices, matrix.data))
    return concatenate(blocks)


def table_of_ours(
    blocks: list[PairBlock], order: np.ndarray, vocabulary: Vocabulary, bits: int, window: int
) -> np.ndarray:
    """Return the table by bitcipher."""
    merged = merge_rows(blocks, order, vocabulary.oov_rank)
    counts = MergedCounts.from_rows(vocabulary, ContextWindow(window), merged)
    return CipherEmbedding(bits, window, "cat", noise="frequency", log="counts").table(counts)


def codes_of(vocabulary: Vocabulary, bits: int) -> np.ndarray:
    """Return the dense code with frequency noise, (N, bits) float64."""
    ciphers, beta = BitCipher(bits).encipher(len(vocabulary)).toarray(), noise.frequency(vocabulary)
    noise_distribution = noise.noise_distribution(BitCipher(bits).active_bits(len(vocabulary)), bits, vocabulary)
    return beta[:, None] * ciphers + np.outer(1 - beta, noise_distribution)


def table_of_scipy(parts: Parts, codes: np.ndarray) -> np.ndarray:
    """Return the table by SciPy. Matrices are added in pairs, which is faster than sequentially."""
    window, bits = len(parts[0]), codes.shape[1]
    table = np.empty((len(codes), 2 * window * bits))
    for offset in range(1, window + 1):
        sums = [part[offset - 1] for part in parts]
        while len(sums) > 1:
            sums = [sum(sums[i + 1 : i + 2], sums[i]) for i in range(0, len(sums), 2)]
        logs = sp.csr_array((np.log1p(sums[0].data), sums[0].indices, sums[0].indptr), shape=sums[0].shape)
        for column, matrix in ((window + offset - 1, logs), (window - offset, logs.T)):
            table[:, column * bits : (column + 1) * bits] = matrix @ codes
    return table


def timed(make: Callable[..., np.ndarray], *arguments: object) -> tuple[float, np.ndarray]:
    """Return CPU seconds, and the table."""
    start = time.process_time()
    table = make(*arguments)
    return time.process_time() - start, table


def main(folder: str, window: int, runs: int, all_bits: list[int], data: list[str]) -> None:
    """Compare each number of bits."""
    vocabulary, parts = count_sources(data, folder, window)
    blocks, order = [as_rows(matrices) for matrices in parts], vocabulary.row_order()
    seconds = {bits: {"ours": [], "theirs": []} for bits in all_bits}
    for bits in all_bits:
        codes = codes_of(vocabulary, bits)
        table_of_ours(blocks, order, vocabulary, bits, window)  # compiles numba's kernels
        for _ in range(runs):
            our_seconds, ours = timed(table_of_ours, blocks, order, vocabulary, bits, window)
            their_seconds, theirs = timed(table_of_scipy, parts, codes)
            if not np.allclose(ours, theirs):
                sys.exit("The tables differ.")
            seconds[bits]["ours"].append(our_seconds)
            seconds[bits]["theirs"].append(their_seconds)
    print(json.dumps(seconds))


if __name__ == "__main__":
    folder, window, runs, bits, *data = sys.argv[1:]
    main(folder, int(window), int(runs), [int(b) for b in bits.split(",")], data)

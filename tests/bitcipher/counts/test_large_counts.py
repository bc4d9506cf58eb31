"""Counts whose sums could overflow are refused wherever they are read."""

import numpy as np
import pyarrow as pa
import pytest

from bitcipher import BitcipherError
from bitcipher.count_limits import MAX_TOKENS
from bitcipher.counts.context_window import ContextWindow
from bitcipher.counts.merged_counts import MergedCounts
from bitcipher.counts.merged_segments import open_merged
from bitcipher.counts.pairs import PairBlock
from bitcipher.counts.segment import write_part
from bitcipher.counts.segment_words import merge_words
from bitcipher.embedding.cipher_embedding import CipherEmbedding
from bitcipher.embedding.spectral.spectral_embedding import SpectralEmbedding
from bitcipher.vocabulary import Vocabulary

WORDS = pa.array(["a", "b", "c"], pa.large_string())
NUMBERS = np.arange(3, dtype=np.int32)
TOO_LARGE = [2**62, 2**63 - 1, MAX_TOKENS + 1, -1]


def pairs(largest):
    left, right = np.array([0, 1], np.int32), np.array([1, 2], np.int32)
    return PairBlock(left, np.ones(2, np.int16), np.ones(2, np.int64), right, np.array([largest, 3]))


def write(folder, count, pair_count):
    """Write a segment whose largest counts are given, and return the URIs of its parts."""
    uri = str(folder / "part")
    write_part(uri, WORDS, NUMBERS, np.array([count, 3, 3]), np.ones(3, np.int64), [pairs(pair_count)])
    return [uri]


@pytest.mark.parametrize("count", TOO_LARGE)
def test_stored_word_counts_are_refused(tmp_path, count):
    parts = write(tmp_path, count, 3)
    with pytest.raises(BitcipherError, match=rf"part\.words\.parquet: the count {count:,} is (above|negative)"):
        merge_words([parts, parts])


@pytest.mark.parametrize("count", TOO_LARGE)
@pytest.mark.parametrize("method", ["rows", "partials"])
def test_stored_pair_counts_are_refused(tmp_path, count, method):
    parts = write(tmp_path, 3, count)
    vocabulary = Vocabulary.from_counts(WORDS, np.full(3, 3), np.ones(3, np.int64), 1)
    counts = open_merged(vocabulary, ContextWindow(1), [parts])
    fact = f"the count {count:,} is above" if count > 0 else "damaged"
    with pytest.raises(BitcipherError, match=rf"part.*{fact}"):
        list(getattr(counts, method)(1))


@pytest.mark.parametrize("counts", [[2**62, 2**62, 1], [MAX_TOKENS, 3, 0], [MAX_TOKENS // 2] * 3])
def test_vocabulary_refuses_counts_with_too_large_a_sum(counts):
    with pytest.raises(BitcipherError, match=r"above the maximum of 2⁵³"):
        Vocabulary.from_counts(WORDS, np.array(counts), np.ones(3, np.int64), 1)
    with pytest.raises(BitcipherError, match=r"above the maximum of 2⁵³"):
        Vocabulary(WORDS, np.array(counts), np.ones(3, np.int64), 1)


def test_pair_counts_in_memory_are_refused():
    vocabulary = Vocabulary.from_counts(WORDS, np.full(3, 3), np.ones(3, np.int64), 1)
    with pytest.raises(BitcipherError, match="the count 4,611,686,018,427,387,904 is above"):
        MergedCounts.from_rows(vocabulary, ContextWindow(1), [pairs(2**62)])


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    "embedding",
    [CipherEmbedding(3, 1, "cat"), CipherEmbedding(3, 1, "sum"), SpectralEmbedding(2)],
    ids=["cat", "sum", "spectral"],
)
def test_largest_counts_are_embedded_exactly(tmp_path, embedding):
    parts = write(tmp_path, MAX_TOKENS - 6, MAX_TOKENS - 6)
    vocabulary = Vocabulary.from_counts(WORDS, np.array([MAX_TOKENS - 6, 3, 3]), np.ones(3, np.int64), 1)
    counts = open_merged(vocabulary, ContextWindow(1), [parts])
    table = embedding.table(counts)
    assert np.isfinite(getattr(table, "table", table)).all()

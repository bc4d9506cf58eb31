import numpy as np
import pyarrow as pa
import pytest
from pair_blocks import block_of

from bitcipher import BitcipherError, CipherEmbedding, Vocabulary
from bitcipher.counts.context_window import ContextWindow
from bitcipher.counts.merged_counts import MergedCounts


def counts_of(rows, words=4, context_window=None, count=10):
    """Return merged counts of (left, offset, {right: n}). Every word has `count` and is in 5 of 10 passages."""
    names = pa.array([f"w{rank}" for rank in range(words)], pa.large_string())
    vocabulary = Vocabulary(names, np.full(words, count), np.full(words, 5), 10)
    return MergedCounts.from_rows(vocabulary, context_window or ContextWindow(2), [block_of(rows)])


# The active bits of the four codes are {0}, {1}, {2} and {1, 2}.
ROWS = [(0, 1, {1: 2, 3: 4}), (0, 2, {2: 3})]


def test_cat_table_of_small_counts():
    table = CipherEmbedding(3, 2, "cat", noise="none", log="none").table(counts_of(ROWS))
    expected = np.zeros((4, 4, 3))  # blocks -2, -1, 1, 2
    expected[0, 2] = [0, 4, 2]  # 2 · word 1 and 4 · word 3 follow word 0
    expected[0, 3] = [0, 0, 3]
    expected[1, 1] = [2, 0, 0]
    expected[3, 1] = [4, 0, 0]
    expected[2, 0] = [3, 0, 0]
    np.testing.assert_array_equal(table, expected.reshape(4, 12))


def test_sum_table_of_small_counts_with_each_log():
    def sum_of(log):
        return CipherEmbedding(3, 2, "sum", noise="none", log=log).table(counts_of(ROWS))

    np.testing.assert_array_equal(sum_of("none"), [[0, 4, 5], [2, 0, 0], [3, 0, 0], [4, 0, 0]])
    first = [0, np.log(3) + np.log(5) / 2, np.log(5) / 2 + np.log(4)]
    np.testing.assert_allclose(
        sum_of("counts"), [first, [np.log(3), 0, 0], [np.log(4), 0, 0], [np.log(5), 0, 0]], rtol=1e-14
    )
    floor = np.log(1e-9)
    np.testing.assert_allclose(
        sum_of("aggregate"), [[floor, np.log(4 / 9), np.log(5 / 9)], *[[0, floor, floor]] * 3], rtol=1e-14
    )


def test_noisy_table_of_small_counts():
    # β = 1/2; m = (10, 15, 15) of M = 40, so σ = (30, 25, 25) / 80.
    table = CipherEmbedding(3, 1, "sum", noise="document_share", log="none").table(counts_of([(0, 1, {1: 2})]))
    noise = np.array([30, 25, 25]) / 80
    np.testing.assert_allclose(table[0], [0, 1, 0] + noise, rtol=1e-15)
    np.testing.assert_allclose(table[1], [1, 0, 0] + noise, rtol=1e-15)
    np.testing.assert_array_equal(table[2:], 0)


def test_mode_cipher_needs_no_pairs():
    def no_blocks(window):
        raise AssertionError("mode cipher reads no pairs")

    vocabulary = counts_of([]).vocabulary
    counts = MergedCounts(vocabulary, ContextWindow(1), no_blocks, no_blocks, no_blocks)
    table = CipherEmbedding(3, mode="cipher").table(counts)
    np.testing.assert_allclose(table[3], [30 / 160, 1 / 4 + 25 / 160, 1 / 4 + 25 / 160], rtol=1e-15)


def test_word_without_context_is_zero_and_empty_block_is_uniform():
    table = CipherEmbedding(3, 2, "cat").table(counts_of([(0, 1, {1: 2})]))
    assert not table[2:].any()
    blocks = table.reshape(4, 4, 3)
    np.testing.assert_allclose(blocks[0, [0, 1, 3]], np.log(1 / 3), rtol=1e-15)
    np.testing.assert_allclose(np.exp(blocks[:2]).sum(axis=2), 1, rtol=1e-14)


def test_counts_without_pairs_give_zeros():
    assert not CipherEmbedding(3, 2).table(counts_of([])).any()


@pytest.mark.parametrize("log", ["aggregate", "counts", "none"])
@pytest.mark.parametrize("mode", ["cat", "sum"])
def test_counts_of_a_trillion_tokens_retain_precision(mode, log):
    # The largest row that the count allows, with β = 1/2 and σ as in the test of the noisy table.
    count = 5 * 10**10
    counts = counts_of([(0, 1, {1: count - 7, 2: 4, 3: 3})], context_window=ContextWindow(1), count=count)
    transform = np.log1p if log == "counts" else np.array
    codes = np.array([[1, 0, 0], [0, 1, 0], [0, 0, 1], [0, 0.5, 0.5]])
    ciphers = codes / 2 + np.array([30, 25, 25]) / 160
    forward = np.array([*transform([count - 7.0, 4.0, 3.0])]) @ ciphers[1:]
    expected = np.log(forward / forward.sum()) if log == "aggregate" else forward
    table = CipherEmbedding(3, 1, mode, log=log).table(counts)
    np.testing.assert_allclose(table[0, -3:], expected, rtol=1e-7)


def test_vector_size_of_each_mode():
    assert CipherEmbedding(25, 4, "cat").vector_size == 200
    assert CipherEmbedding(200, 128, "sum").vector_size == 200
    assert CipherEmbedding(200, 4, "cipher").vector_size == 200


def test_default_options():
    embedding = CipherEmbedding()
    chosen = embedding.bits, embedding.window, embedding.mode, embedding.noise, embedding.log
    assert chosen == (25, 4, "cat", "document_share", "aggregate")


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"mode": "dog"}, "no mode 'dog'"),
        ({"noise": "loud"}, "no noise 'loud'"),
        ({"log": "tree"}, "no log 'tree'"),
        ({"window": 0}, "window.*at least 1"),
        ({"bits": 0}, "`bits`.*at least 1"),
        ({"bits": 1}, "Noise needs at least 2 bits"),
    ],
)
def test_invalid_options_raise(values, message):
    with pytest.raises(BitcipherError, match=message):
        CipherEmbedding(**values)


def test_one_bit_is_allowed_without_noise():
    table = CipherEmbedding(1, 1, "sum", noise="none", log="none").table(counts_of([(0, 1, {0: 3})], words=1))
    np.testing.assert_array_equal(table, [[6]])


def test_too_many_words_for_the_code_raise():
    with pytest.raises(BitcipherError, match="at least 3 bits"):
        CipherEmbedding(2).table(counts_of(ROWS, context_window=ContextWindow(4)))


@pytest.mark.parametrize("mode", ["cat", "sum"])
def test_larger_window_than_the_counts_raises(mode):
    with pytest.raises(BitcipherError, match="window of 2"):
        CipherEmbedding(3, 3, mode).table(counts_of(ROWS))


@pytest.mark.parametrize(("mode", "window"), [("cat", 2), ("cat", 1), ("sum", 1), ("sum", 3)])
def test_summed_counts_support_only_their_own_sum(mode, window):
    with pytest.raises(BitcipherError, match="summed over a window of 2"):
        CipherEmbedding(3, window, mode).table(
            counts_of([(0, 0, {1: 2})], context_window=ContextWindow(2, summed=True))
        )


def test_summed_counts_of_window_1_equal_positional_counts():
    summed = counts_of([(0, 0, {1: 2})], context_window=ContextWindow(1, summed=True))
    positional = counts_of([(0, 1, {1: 2})], context_window=ContextWindow(1))
    embedding = CipherEmbedding(3, 1, "sum")
    np.testing.assert_array_equal(embedding.table(summed), embedding.table(positional))

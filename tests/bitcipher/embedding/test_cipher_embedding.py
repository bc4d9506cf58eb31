import numpy as np
import pyarrow as pa
import pytest

from bitcipher import BitcipherError, CipherEmbedding, Vocabulary
from bitcipher.counts import ContextWindow, MergedCounts, PairBlock


def counts_of(rows, words=4, context_window=None, count=10):
    """Merged counts from (left, offset, {right: n}), every word with that count in 5 of 10 documents."""
    block = PairBlock(
        np.array([left for left, _, _ in rows], np.int32),
        np.array([offset for _, offset, _ in rows], np.int16),
        np.array([len(pairs) for _, _, pairs in rows], np.int64),
        np.array([right for _, _, pairs in rows for right in pairs], np.int32),
        np.array([n for _, _, pairs in rows for n in pairs.values()], np.int64),
    )
    names = pa.array([f"w{rank}" for rank in range(words)], pa.large_string())
    vocabulary = Vocabulary(names, np.full(words, count), np.full(words, 5), 10)
    return MergedCounts.from_rows(vocabulary, context_window or ContextWindow(2), [block])


# Codes at 3 bits: 0, 1, 2, 12.
ROWS = [(0, 1, {1: 2, 3: 4}), (0, 2, {2: 3})]


def test_a_cat_table_by_hand():
    table = CipherEmbedding(3, 2, "cat", noise="none", log="none").table(counts_of(ROWS))
    expected = np.zeros((4, 4, 3))  # blocks -2, -1, 1, 2
    expected[0, 2] = [0, 4, 2]  # 2 · word 1 and 4 · word 3 behind word 0
    expected[0, 3] = [0, 0, 3]
    expected[1, 1] = [2, 0, 0]
    expected[3, 1] = [4, 0, 0]
    expected[2, 0] = [3, 0, 0]
    np.testing.assert_array_equal(table, expected.reshape(4, 12))


def test_a_sum_table_by_hand_with_each_log():
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


def test_a_noisy_table_by_hand():
    # β = 1/2; m = (10, 15, 15) of M = 40, so σ = (30, 25, 25) / 80.
    table = CipherEmbedding(3, 1, "sum", noise="document_share", log="none").table(counts_of([(0, 1, {1: 2})]))
    noise = np.array([30, 25, 25]) / 80
    np.testing.assert_allclose(table[0], [0, 1, 0] + noise, rtol=1e-15)
    np.testing.assert_allclose(table[1], [1, 0, 0] + noise, rtol=1e-15)
    np.testing.assert_array_equal(table[2:], 0)


def test_the_cipher_mode_needs_no_counts():
    def no_blocks(window):
        raise AssertionError("mode cipher reads no pairs")

    vocabulary = counts_of([]).vocabulary
    table = CipherEmbedding(3, mode="cipher").table(MergedCounts(vocabulary, ContextWindow(1), no_blocks, no_blocks))
    np.testing.assert_allclose(table[3], [30 / 160, 1 / 4 + 25 / 160, 1 / 4 + 25 / 160], rtol=1e-15)


def test_a_word_without_context_has_zeros_and_an_empty_block_is_uniform():
    table = CipherEmbedding(3, 2, "cat").table(counts_of([(0, 1, {1: 2})]))
    assert not table[2:].any()
    blocks = table.reshape(4, 4, 3)
    np.testing.assert_allclose(blocks[0, [0, 1, 3]], np.log(1 / 3), rtol=1e-15)
    np.testing.assert_allclose(np.exp(blocks[:2]).sum(axis=2), 1, rtol=1e-14)


def test_no_pairs_at_all_make_a_table_of_zeros():
    assert not CipherEmbedding(3, 2).table(counts_of([])).any()


@pytest.mark.parametrize("log", ["aggregate", "counts", "none"])
@pytest.mark.parametrize("mode", ["cat", "sum"])
def test_counts_as_of_a_trillion_tokens_keep_their_digits(mode, log):
    # As large as the count lets a row be: β = 1/2, σ as in the noisy table by hand.
    count = 5 * 10**10
    counts = counts_of([(0, 1, {1: count - 7, 2: 4, 3: 3})], context_window=ContextWindow(1), count=count)
    weigh = np.log1p if log == "counts" else np.array
    codes = np.array([[1, 0, 0], [0, 1, 0], [0, 0, 1], [0, 0.5, 0.5]])
    ciphers = codes / 2 + np.array([30, 25, 25]) / 160
    forward = np.array([*weigh([count - 7.0, 4.0, 3.0])]) @ ciphers[1:]
    expected = np.log(forward / forward.sum()) if log == "aggregate" else forward
    table = CipherEmbedding(3, 1, mode, log=log).table(counts)
    np.testing.assert_allclose(table[0, -3:], expected, rtol=1e-7)


def test_dimensions_follow_from_mode():
    assert CipherEmbedding(25, 4, "cat").vector_size == 200
    assert CipherEmbedding(200, 128, "sum").vector_size == 200
    assert CipherEmbedding(200, 4, "cipher").vector_size == 200


def test_defaults_are_those_measured_best():
    embedding = CipherEmbedding()
    chosen = embedding.bits, embedding.window, embedding.mode, embedding.noise, embedding.log
    assert chosen == (25, 4, "cat", "document_share", "aggregate")


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"mode": "dog"}, r"There is no mode 'dog': choose cat, sum, cipher\."),
        ({"noise": "loud"}, r"no noise 'loud': choose document_share, frequency, document_ratio, none\."),
        ({"log": "tree"}, r"There is no log 'tree': choose aggregate, counts, none\."),
        ({"window": 0}, "window.*at least 1"),
        ({"bits": 0}, r"bits must be a whole number of at least 1, not 0\."),
        ({"bits": 1}, "Noise needs at least 2 bits"),
    ],
)
def test_values_that_do_not_exist_are_errors(values, message):
    with pytest.raises(BitcipherError, match=message):
        CipherEmbedding(**values)


def test_one_bit_is_enough_without_noise():
    table = CipherEmbedding(1, 1, "sum", noise="none", log="none").table(counts_of([(0, 1, {0: 3})], words=1))
    np.testing.assert_array_equal(table, [[6]])


def test_more_words_than_the_code_has_are_an_error():
    with pytest.raises(BitcipherError, match=r"4 words do not fit into 2 bits, .* use at least 3 bits"):
        CipherEmbedding(2).table(counts_of(ROWS, context_window=ContextWindow(4)))


@pytest.mark.parametrize("mode", ["cat", "sum"])
def test_a_larger_radius_than_was_counted_is_an_error(mode):
    with pytest.raises(BitcipherError, match="window of 2, not 3"):
        CipherEmbedding(3, 3, mode).table(counts_of(ROWS))


@pytest.mark.parametrize(("mode", "window"), [("cat", 2), ("cat", 1), ("sum", 1), ("sum", 3)])
def test_summed_counts_give_nothing_but_their_sum(mode, window):
    with pytest.raises(BitcipherError, match=rf"summed over a window of 2.*not {mode} at {window}"):
        CipherEmbedding(3, window, mode).table(
            counts_of([(0, 0, {1: 2})], context_window=ContextWindow(2, summed=True))
        )


def test_summed_counts_of_radius_1_give_their_sum():
    summed = counts_of([(0, 0, {1: 2})], context_window=ContextWindow(1, summed=True))
    positional = counts_of([(0, 1, {1: 2})], context_window=ContextWindow(1))
    embedding = CipherEmbedding(3, 1, "sum")
    np.testing.assert_array_equal(embedding.table(summed), embedding.table(positional))

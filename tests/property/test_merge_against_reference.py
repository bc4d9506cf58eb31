from itertools import islice

import numpy as np
import reference
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from pair_blocks import block_of
from small_corpora import CountedShards, choices, context_windows, cut, documents, keep_rows, rows_of

from bitcipher import BitcipherError
from bitcipher.counts.merge import merge_rows, negate
from bitcipher.counts.pairs import concatenate

cuts = st.lists(st.integers(0, 200), max_size=4)


def choose(counted, **choice):
    try:
        return counted.vocabulary(**choice)
    except (BitcipherError, ValueError):  # the corpus has no words, or none is in the vocabulary
        assume(False)


def expected_rows(documents, words, context_window):
    """Return all rows over the vocabulary by the left word's bytes, then by offset; those of <oov> separately."""
    ranks = {word.word: rank for rank, word in enumerate(words)}
    mapped = [[word if word in ranks else reference.OOV for word in document] for document in documents]
    pairs = reference.count_pairs(mapped, context_window.size, context_window.summed)
    rows = [
        (left, offset, sorted(pairs[left, offset].items(), key=lambda pair: ranks[pair[0]]))
        for left, offset in sorted(pairs, key=lambda row: (row[0].encode(), row[1]))
    ]
    return [row for row in rows if row[0] != reference.OOV], [row for row in rows if row[0] == reference.OOV]


@given(documents, context_windows, choices, cuts)
@settings(max_examples=120, deadline=None)
def test_merged_shards_match_the_counts_of_all_documents(documents, context_window, choice, positions):
    counted = CountedShards(cut(documents, positions), context_window)
    vocabulary = choose(counted, **choice)
    expected, total = reference.choose_words(documents, **choice)
    columns = vocabulary.words.to_pylist(), vocabulary.counts.tolist(), vocabulary.passages.tolist()
    assert list(zip(*columns, strict=True)) == expected
    assert vocabulary.total_passages == total

    words, oov = merge_rows(counted.renumbered(vocabulary), vocabulary.row_order(), vocabulary.oov_rank)
    names = vocabulary.words.to_pylist()
    assert (rows_of([words], names), rows_of([oov], names)) == expected_rows(documents, expected, context_window)


@given(documents, context_windows, choices, cuts, st.randoms(use_true_random=False))
@settings(max_examples=50, deadline=None)
def test_order_of_shards_does_not_change_the_counts(documents, context_window, choice, positions, random):
    shards = cut(documents, positions)
    vocabulary = choose(CountedShards(shards, context_window), **choice)
    merged = []
    for _ in range(2):
        counted = CountedShards(shards, context_window)
        again = counted.vocabulary(**choice)
        assert again.words == vocabulary.words
        merged += merge_rows(counted.renumbered(again), again.row_order(), again.oov_rank)
        random.shuffle(shards)
    assert_same(merged[0], merged[2])
    assert_same(merged[1], merged[3])


@given(documents, context_windows, choices, cuts, cuts)
@settings(max_examples=80, deadline=None)
def test_merging_by_word_ranges_gives_the_same_rows(documents, context_window, choice, positions, ranges):
    counted = CountedShards(cut(documents, positions), context_window)
    vocabulary = choose(counted, **choice)
    order = vocabulary.row_order()
    words, oov = merge_rows(counted.renumbered(vocabulary), order, vocabulary.oov_rank)

    parts = []
    for words_of_range in cut(sorted({word for document in documents for word in document}, key=str.encode), ranges):
        blocks = []
        for (shard, pairs), renumbered in zip(counted.shards, counted.renumbered(vocabulary), strict=True):
            numbers = shard.numbers[[word in words_of_range for word in shard.words.to_pylist()]]
            blocks.append(keep_rows(renumbered, np.isin(pairs.left, numbers)))
        parts.append(merge_rows(blocks, order, vocabulary.oov_rank))
    assert_same(merge_rows([part for _, part in parts], order, vocabulary.oov_rank)[1], oov)
    assert_same(concatenate(part for part, _ in parts), words)


def assert_same(one, other):
    assert all(a.tobytes() == b.tobytes() and a.dtype == b.dtype for a, b in zip(one, other, strict=True))


@given(documents, documents, context_windows, choices, cuts, st.randoms(use_true_random=False))
@settings(max_examples=80, deadline=None)
def test_subtracting_shards_leaves_the_others(remaining, replaced, context_window, choice, positions, random):
    """The vocabulary is that of all documents, so rows of words that occur only in the replaced ones must vanish."""
    vocabulary = choose(CountedShards([remaining + replaced], context_window), **choice)
    order = vocabulary.row_order(), vocabulary.oov_rank
    blocks = CountedShards(cut(remaining + replaced, positions), context_window).renumbered(vocabulary)
    # The subtracted documents were counted in other shards.
    blocks += [
        negate(block) for block in CountedShards(cut(replaced, positions), context_window).renumbered(vocabulary)
    ]
    random.shuffle(blocks)
    left = CountedShards([remaining], context_window).renumbered(vocabulary)
    for one, other in zip(merge_rows(blocks, *order), merge_rows(left, *order), strict=True):
        assert_same(one, other)


@st.composite
def rows(draw):
    """Rows of some of six words, with negative offsets as transposed rows have them."""
    numbers = st.integers(0, 5)
    pairs = st.dictionaries(numbers, st.integers(-3, 3), min_size=1)
    return block_of(draw(st.lists(st.tuples(numbers, st.integers(-3, 4), pairs), max_size=12)))


@given(st.lists(rows(), max_size=3), st.permutations(range(6)), st.integers(-1, 5))
def test_rows_are_sorted_by_word_and_offset(blocks, order, oov_rank):
    sums = {}
    for block in blocks:
        pairs = iter(zip(block.right.tolist(), block.count.tolist(), strict=True))
        for left, offset, length in zip(*(c.tolist() for c in block[:3]), strict=True):
            for right, count in islice(pairs, length):
                row = sums.setdefault((left, offset), {})
                row[right] = row.get(right, 0) + count
    kept = {row: {right: n for right, n in pairs.items() if n} for row, pairs in sums.items()}
    expected = sorted((row for row in kept if kept[row]), key=lambda row: (order[row[0]], row[1]))
    words, oov = merge_rows(blocks, np.array(order), oov_rank)
    for found, is_oov in ((words, False), (oov, True)):
        own = [row for row in expected if (row[0] == oov_rank) == is_oov]
        assert list(zip(found.left.tolist(), found.offset.tolist(), strict=True)) == own
        assert found.length.tolist() == [len(kept[row]) for row in own]
        assert list(zip(found.right.tolist(), found.count.tolist(), strict=True)) == [
            pair for row in own for pair in sorted(kept[row].items())
        ]

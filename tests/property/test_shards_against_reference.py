from collections import Counter, defaultdict
from itertools import pairwise

import numpy as np
import pytest
import reference
from hypothesis import example, given, settings
from hypothesis import strategies as st
from small_corpora import WORDS, context_windows, documents, rows_of

from bitcipher.counts import shard_counts
from bitcipher.counts.context_window import ContextWindow
from bitcipher.counts.shard_counts import BLOCK_ENTRIES, count_shard
from bitcipher.counts.tokenized_shard import TokenizedShard


def check_shard(documents, context_window, block_entries=BLOCK_ENTRIES):
    """Count documents and compare all results with the reference."""
    counts = count_shard(TokenizedShard.from_documents(documents), context_window, block_entries=block_entries)
    expected, holding, total = reference.count_words(documents)
    words, by_rank = sorted(expected, key=str.encode), reference.rank_words(expected)
    assert counts.words.to_pylist() == words
    assert [by_rank[number] for number in counts.numbers] == words
    assert counts.counts.tolist() == [expected[word] for word in words]
    assert counts.passages.tolist() == [holding[word] for word in words]
    assert counts.total_passages == total

    blocks = list(counts.pairs)
    pairs = reference.count_pairs(documents, context_window.size, context_window.summed)
    number = {word: rank for rank, word in enumerate(by_rank)}
    assert rows_of(blocks, by_rank) == [
        (left, offset, sorted(pairs[left, offset].items(), key=lambda pair: number[pair[0]]))
        for left in words
        for offset in context_window.offsets
        if (left, offset) in pairs
    ]
    assert all(len(block.right) <= max(block_entries, len(words)) for block in blocks)
    assert all(block.length.min() > 0 for block in blocks)


@given(documents, context_windows, st.sampled_from([1, 2, 3, 7, 50, BLOCK_ENTRIES]))
@example([["a"] * 130], ContextWindow(128, summed=True), 2)
@example([["a", "b"] * 65, ["b"]], ContextWindow(128), 2)
@settings(max_examples=120, deadline=None)
def test_small_shards_match_the_reference(documents, context_window, block_entries):
    check_shard(documents, context_window, block_entries=block_entries)


@given(st.integers(0, 2**32), st.integers(1, 300), st.lists(st.integers(0, 400), max_size=4), context_windows)
@settings(max_examples=40, deadline=None)
def test_random_words_match_the_reference(seed, types, lengths, context_window):
    random = np.random.default_rng(seed)
    # A few words make up most of the text, as in natural language.
    drawn = [[f"w{number}" for number in random.zipf(1.3, length) % types] for length in lengths]
    check_shard(drawn, ContextWindow(min(context_window.size, 25), context_window.summed))


def test_more_words_than_one_element_of_the_upper_bitset():
    random = np.random.default_rng(7)
    words = [f"w{number}" for number in random.permutation(9_000)]
    documents = [[word for pair in zip(words, ["the"] * 9_000, strict=True) for word in pair], words[:500]]
    check_shard(documents, ContextWindow(2))
    check_shard(documents, ContextWindow(3, summed=True))


def test_passages_limit_document_frequencies_but_not_windows():
    random = np.random.default_rng(8)
    words = np.array([f"w{number}" for number in range(400)])
    documents = [
        words[random.zipf(1.5, length) % 400].tolist() for length in (1_999, 2_000, 2_001, 0, 1, 4_000, 4_001, 6_500)
    ]
    assert reference.count_words(documents)[2] == 1 + 1 + 2 + 1 + 2 + 3 + 4
    check_shard(documents, ContextWindow(3))
    check_shard(documents, ContextWindow(3, summed=True))


@given(
    st.lists(st.sampled_from(WORDS), min_size=1, max_size=300),
    documents,
    context_windows,
    st.integers(1, 40),
    st.lists(st.integers(0, 100), max_size=5),
)
@settings(max_examples=120, deadline=None)
def test_batches_of_a_document_add_up(document, others, context_window, passage_tokens, cuts):
    positions = {cut * passage_tokens for cut in cuts if cut * passage_tokens < len(document)}
    bounds = sorted({0, len(document), *positions})
    expected = reference.count_words([document, *others], passage_tokens)
    counts, holding, total = Counter(), Counter(), 0
    pairs = defaultdict(Counter)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(shard_counts, "PASSAGE_TOKENS", passage_tokens)
        for start, stop in pairwise(bounds):
            carried = min(context_window.size, start)
            # Other documents follow the last batch.
            following = others if stop == len(document) else []
            tokens = TokenizedShard.from_documents([document[start - carried : stop], *following])
            counted = count_shard(tokens, context_window, carried, block_entries=50)
            words = counted.words.to_pylist()
            for word, count, held in zip(words, counted.counts.tolist(), counted.passages.tolist(), strict=True):
                counts[word] += count
                holding[word] += held
            total += counted.total_passages
            by_number = dict(zip(counted.numbers.tolist(), words, strict=True))
            rows = rows_of(counted.pairs, by_number)
            for left, offset, row in rows:
                pairs[left, offset].update(dict(row))
            only_carried = {words[index] for index in np.flatnonzero(counted.counts == 0)}
            assert only_carried <= {left for left, _, _ in rows}
    assert (+counts, +holding, total) == expected
    assert pairs == reference.count_pairs([document, *others], context_window.size, context_window.summed)

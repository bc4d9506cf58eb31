"""Strategies for small corpora, and their merged counts."""

from itertools import islice, pairwise

import numpy as np
from hypothesis import strategies as st

from bitcipher.counts.context_window import ContextWindow
from bitcipher.counts.merge import merge_rows, renumber
from bitcipher.counts.merged_counts import MergedCounts, PartialCounts
from bitcipher.counts.pairs import PairBlock, concatenate, split
from bitcipher.counts.shard_counts import count_shard
from bitcipher.counts.tokenized_shard import TokenizedShard
from bitcipher.vocabulary import Vocabulary

# Words whose order differs between UTF-8, UTF-16 and alphabetical order, and the string <oov>.
WORDS = ["the", "of", "a", "b", "Zoo", "zoo", "zoom", "é", "ﬀ", "𝒳", "😀", "<oov>"]

# Repeated phrases: documents of 0 to 160 tokens.
documents = st.lists(
    st.builds(lambda phrase, times: phrase * times, st.lists(st.sampled_from(WORDS), max_size=8), st.integers(1, 20)),
    max_size=6,
)
context_windows = st.builds(ContextWindow, st.sampled_from([1, 2, 3, 7, 24, 25, 127, 128]), st.booleans())
choices = st.fixed_dictionaries({}, optional={"min_count": st.integers(1, 20), "max_vocab_size": st.integers(1, 8)}) | (
    st.builds(lambda words: {"word_list": [*words, "unseen"]}, st.lists(st.sampled_from(WORDS), max_size=6))
)


def cut(items, positions):
    """Return consecutive groups of items, split at positions (any integers, modulo the length)."""
    bounds = sorted({0, len(items), *(position % (len(items) + 1) for position in positions)})
    return [items[start:stop] for start, stop in pairwise(bounds)]


def rows_of(blocks, words):
    """Return rows as (left, offset, [(right, n), …]), with words instead of numbers."""
    block = concatenate(blocks)
    pairs = iter(zip(block.right, block.count.tolist(), strict=True))
    return [
        (words[left], offset, [(words[right], n) for right, n in islice(pairs, length)])
        for left, offset, length in zip(block.left, block.offset.tolist(), block.length.tolist(), strict=True)
    ]


class CountedShards:
    """Counted shards, before their vocabulary is chosen."""

    def __init__(self, shards, context_window, block_entries=64):
        self.context_window = context_window
        counted = [
            count_shard(TokenizedShard.from_documents(shard), context_window, block_entries=block_entries)
            for shard in shards
        ]
        self.shards = [(shard, concatenate(shard.pairs)) for shard in counted]

    def vocabulary(self, **choice):
        totals = {}
        for shard, _ in self.shards:
            rows = zip(shard.words.to_pylist(), shard.counts.tolist(), shard.passages.tolist(), strict=True)
            for word, count, passages in rows:
                before = totals.get(word, (0, 0))
                totals[word] = (before[0] + count, before[1] + passages)
        counts, passages = zip(*totals.values(), strict=True)
        total = sum(shard.total_passages for shard, _ in self.shards)
        return Vocabulary.from_counts(list(totals), counts, passages, total, **choice)

    def partials(self, vocabulary):
        """Return the pairs of each shard with its word numbers, and the ranks of these numbers."""
        partials = []
        for shard, pairs in self.shards:
            ranks = np.empty(len(shard.words), np.int32)
            ranks[shard.numbers] = vocabulary.ranks(shard.words)
            partials.append(PartialCounts(pairs, ranks))
        return partials

    def renumbered(self, vocabulary):
        """Return the pairs of each shard by rank."""
        return [renumber(partial.block, partial.ranks) for partial in self.partials(vocabulary)]

    def merged(self, block_entries=100, **choice):
        """Return the merged counts in blocks of `block_entries` entries."""
        vocabulary = self.vocabulary(**choice)
        rows = merge_rows(self.renumbered(vocabulary), vocabulary.row_order(), vocabulary.oov_rank)
        return merged_counts(vocabulary, self.context_window, rows, block_entries)


def merged_counts(vocabulary, context_window, blocks, block_entries):
    """Return merged rows as `MergedCounts`, in blocks of `block_entries` entries."""
    return MergedCounts.from_rows(
        vocabulary, context_window, [part for block in blocks for part in split(block, block_entries)]
    )


def keep_rows(block, selected):
    """Return the selected rows."""
    entries = np.repeat(selected, block.length)
    return PairBlock(*(column[selected] for column in block[:3]), *(column[entries] for column in block[3:]))

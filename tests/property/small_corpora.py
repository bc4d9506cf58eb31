"""Small corpora for property tests, and the real way from documents to merged counts."""

from itertools import islice, pairwise

import numpy as np
from hypothesis import strategies as st

from bitcipher.counts import (
    ContextWindow,
    MergedCounts,
    PairBlock,
    Part,
    TokenizedShard,
    concatenate,
    count_shard,
    merge_rows,
    renumber,
    split,
)
from bitcipher.vocabulary import Vocabulary

# Words whose order differs between bytes, UTF-16 and alphabets, and one that is spelled like the entry for others.
WORDS = ["the", "of", "a", "b", "Zoo", "zoo", "zoom", "é", "ﬀ", "𝒳", "😀", "<oov>"]

# Phrases said again and again: ragged documents of up to 160 tokens, empty ones and single words among them.
documents = st.lists(
    st.builds(lambda phrase, times: phrase * times, st.lists(st.sampled_from(WORDS), max_size=8), st.integers(1, 20)),
    max_size=6,
)
context_windows = st.builds(ContextWindow, st.sampled_from([1, 2, 3, 7, 24, 25, 127, 128]), st.booleans())
choices = st.fixed_dictionaries({}, optional={"min_count": st.integers(1, 20), "max_vocab_size": st.integers(1, 8)}) | (
    st.builds(lambda words: {"word_list": [*words, "unseen"]}, st.lists(st.sampled_from(WORDS), max_size=6))
)


def cut(items, places):
    """The items in runs, cut at places (any whole numbers)."""
    bounds = sorted({0, len(items), *(place % (len(items) + 1) for place in places)})
    return [items[start:stop] for start, stop in pairwise(bounds)]


def rows_of(blocks, words):
    """Rows as (left, offset, [(right, n), …]), with the words that numbers stand for."""
    block = concatenate(blocks)
    pairs = iter(zip(block.right, block.count.tolist(), strict=True))
    return [
        (words[left], offset, [(words[right], n) for right, n in islice(pairs, length)])
        for left, offset, length in zip(block.left, block.offset.tolist(), block.length.tolist(), strict=True)
    ]


class CountedShards:
    """Shards counted by the real code, before their vocabulary is chosen."""

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

    def parts(self, vocabulary):
        """The pairs of each shard with its own numbers, and the ranks of these."""
        parts = []
        for shard, pairs in self.shards:
            ranks = np.empty(len(shard.words), np.int32)
            ranks[shard.numbers] = vocabulary.ranks(shard.words)
            parts.append(Part(pairs, ranks))
        return parts

    def renumbered(self, vocabulary):
        """The pairs of each shard by rank."""
        return [renumber(part.block, part.ranks) for part in self.parts(vocabulary)]

    def merged(self, block_entries=100, **choice):
        """The merged counts, in blocks of so many entries."""
        vocabulary = self.vocabulary(**choice)
        rows = merge_rows(self.renumbered(vocabulary), vocabulary.row_order(), vocabulary.oov_rank)
        return merged_counts(vocabulary, self.context_window, rows, block_entries)


def merged_counts(vocabulary, context_window, runs, block_entries):
    """Runs of merged rows as `MergedCounts`, walked in blocks of so many entries."""

    return MergedCounts.from_rows(
        vocabulary, context_window, [block for run in runs for block in split(run, block_entries)]
    )


def keep_rows(block, kept):
    """Only some of the rows."""
    entries = np.repeat(kept, block.length)
    return PairBlock(*(column[kept] for column in block[:3]), *(column[entries] for column in block[3:]))

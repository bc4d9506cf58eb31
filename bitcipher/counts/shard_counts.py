"""`count_shard`: counts all words and pairs of a tokenized shard, independent of any vocabulary."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from bitcipher.counts import kernels
from bitcipher.counts.bitset import empty_set
from bitcipher.counts.context_window import ContextWindow
from bitcipher.counts.pairs import PairBlock
from bitcipher.counts.tokenized_shard import TokenizedShard
from bitcipher.errors import BitcipherError
from bitcipher.vocabulary import byte_order

# Maximum tokens of a passage, the unit of document frequencies. With whole books as the unit, part-of-speech accuracy
# is 0.3 points lower.
PASSAGE_TOKENS = 2_000

# Maximum pairs of a block, which take 12 MB. Blocks of a shard with more words are larger, since a row can have a pair
# with every word. With four times as many, a build takes 90 MiB more, and 110 MiB if all words are distinct.
BLOCK_ENTRIES = 1 << 20

MAX_POSITIONS = 2**31 - 1  # positions are int32


@dataclass(frozen=True)
class ShardCounts:
    """Words of a shard in the order of their UTF-8 bytes, and its pairs.

    Attributes:
        words: (V,) every word of the shard, including those that occur only among carried tokens (see `count_shard`).
        numbers: (V,) int32, the number that represents each word in the pairs: its rank in the shard.
        counts: (V,) int64, occurrences.
        passages: (V,) int64, passages that contain each word.
        total_passages: number of passages that contain any word.
        pairs: iterator over blocks of rows in the order of `words`, then of offsets. It can be used once.
    """

    words: pa.LargeStringArray
    numbers: np.ndarray
    counts: np.ndarray
    passages: np.ndarray
    total_passages: int
    pairs: Iterator[PairBlock]


def count_shard(
    shard: TokenizedShard, context_window: ContextWindow, carried: int = 0, block_entries: int = BLOCK_ENTRIES
) -> ShardCounts:
    """Count the words of a shard. Its pairs are counted lazily, while `pairs` is iterated.

    A document can be counted in several batches. Cut it at multiples of PASSAGE_TOKENS from its start, and begin each
    batch with the last `context_window.size` tokens of the preceding one (or all of them if there are fewer), as
    `carried` tokens. The counts of the batches then add up to those of the document.

    Args:
        shard: the tokens.
        context_window: the offsets to count.
        carried: number of tokens at the start of the first document that the preceding batch counted. Of the pairs of
            these tokens, only those with a new token are counted.
        block_entries: maximum pairs of a block.

    Raises:
        BitcipherError: if the shard has too many tokens, or if its first document is shorter than `carried`.
    """
    if carried:
        shard, carried = _without_distant(shard, context_window.size, carried)
    separators = int(context_window.bands[:, 0].max())
    positions_needed = len(shard.ids) + (len(shard.ends) + 1) * separators + context_window.size
    if positions_needed > MAX_POSITIONS:
        raise BitcipherError(f"A shard of {len(shard.ids):,} tokens is too large to count: choose smaller shards.")
    new_ids, types = shard.ids[carried:], len(shard.words)
    counts, passages, total_passages = kernels.count_words(new_ids, shard.ends - carried, types, PASSAGE_TOKENS)
    occurrences = counts + np.bincount(shard.ids[:carried], minlength=types)
    used = np.flatnonzero(occurrences)
    used = used[byte_order(shard.words.take(pa.array(used)))]
    counts = counts[used]
    numbers = np.empty(len(used), np.int32)
    order_of_ranks = np.argsort(-counts, kind="stable")
    numbers[order_of_ranks] = np.arange(len(used), dtype=np.int32)
    number_of_id = np.full(len(shard.words), -1, np.int32)
    number_of_id[used] = numbers

    return ShardCounts(
        words=shard.words.take(pa.array(used)),
        numbers=numbers,
        counts=counts,
        passages=passages[used],
        total_passages=int(total_passages),
        pairs=_count_pairs(
            shard, context_window, carried, number_of_id, numbers, occurrences[used][order_of_ranks], block_entries
        ),
    )


def _without_distant(shard: TokenizedShard, window: int, carried: int) -> tuple[TokenizedShard, int]:
    """Drop carried tokens outside the windows of all new tokens. Return the shard and its number of carried tokens."""
    if not len(shard.ends) or carried > shard.ends[0]:
        raise BitcipherError(f"The first document has fewer than the {carried:,} tokens of `carried`.")
    near = min(carried, window) if shard.ends[0] > carried else 0
    distant = carried - near
    return TokenizedShard(shard.words, shard.ids[distant:], shard.ends - distant), near


def _count_pairs(
    shard: TokenizedShard,
    context_window: ContextWindow,
    carried: int,
    number_of_id: np.ndarray,
    order: np.ndarray,
    counts: np.ndarray,
    block_entries: int,
) -> Iterator[PairBlock]:
    """Yield blocks with the rows of all words.

    Args:
        shard: the tokens.
        context_window: the offsets to count.
        carried: number of tokens at the start that are not counted as right words.
        number_of_id: (types,) int32, the word number of each token id.
        order: (V,) int32, the word numbers in the order of the rows.
        counts: (V,) int64, occurrences of each word number, including those among carried tokens.
        block_entries: maximum pairs of a block.
    """
    words = len(counts)
    separators = int(context_window.bands[:, 0].max())
    starts = np.concatenate([np.zeros(1, np.int64), np.cumsum(counts)])
    # NumPy allocates large arrays in huge pages, and numba does not.
    tokens = np.empty(len(shard.ids) + (len(shard.ends) + 1) * separators, np.int32)
    positions = np.empty(len(shard.ids), np.int32)
    places = np.stack([number_of_id, starts[number_of_id].astype(np.int32)], axis=1)
    kernels.place_tokens(shard.ids, shard.ends, places, separators, words, tokens, positions)
    # A count is at most the number of pairs in a band. int32 counts take half the cache of int64.
    max_count = len(shard.ids) * (context_window.size if context_window.summed else 1)
    totals = np.zeros(words, np.int32 if max_count < 2**31 else np.int64)
    low, high = empty_set(words)
    small = np.empty(kernels.SMALL_ROW, np.int32)
    collected = np.empty(max(kernels.COLLECTED, context_window.size), np.int32)
    entries = max(block_entries, words)
    rows = max(1, entries // 2)
    block = PairBlock(
        np.empty(rows, np.int32),
        np.empty(rows, np.int16),
        np.empty(rows, np.int64),
        np.empty(entries, np.int32),
        np.empty(entries, np.int64),
    )
    row_offsets = np.array(context_window.offsets, np.int16)
    row = band = 0
    while row < words:
        row, band, filled_rows, filled = kernels.count_rows(
            tokens,
            starts,
            positions,
            carried,
            order,
            context_window.bands,
            row_offsets,
            row,
            band,
            totals,
            low,
            high,
            small,
            collected,
            *block,
        )
        if filled_rows:
            rows_of_block = (column[:filled_rows].copy() for column in block[:3])
            yield PairBlock(*rows_of_block, *(column[:filled].copy() for column in block[3:]))

"""The vocabulary: words in the order of their ranks, with the counts that ranks and noise are made of (SPEC 1)."""

from collections.abc import Iterable
from functools import cached_property

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from bitcipher.errors import BitcipherError

# The one entry that all words outside the vocabulary share. A token of a text that is spelled so joins them.
OOV = "<oov>"


class Vocabulary:
    """Words ranked by count, descending, and by their UTF-8 bytes where counts are equal.

    Attributes:
        words: (N,) the words in order of rank, `<oov>` among them.
        counts: (N,) int64, occurrences.
        passages: (N,) int64, passages that hold the word; a slice of 2,000 tokens of a long document is a
            document of its own. For `<oov>`: the sum over its words, at most all passages.
        total_passages: all passages.
    """

    def __init__(self, words: pa.LargeStringArray, counts: np.ndarray, passages: np.ndarray, total_passages: int):
        self.words = words
        self.counts = np.asarray(counts, np.int64)
        self.passages = np.asarray(passages, np.int64)
        self.total_passages = int(total_passages)

    @classmethod
    def from_counts(
        cls,
        words: Iterable[str] | pa.LargeStringArray,
        counts: np.ndarray,
        passages: np.ndarray,
        total_passages: int,
        min_count: int = 1,
        max_vocab_size: int | None = None,
        word_list: Iterable[str] | None = None,
        known: pa.LargeStringArray | None = None,
    ) -> "Vocabulary":
        """Choose and rank the vocabulary of a corpus.

        Args:
            words: every word of the corpus, each once, in any order.
            counts: (n,) their occurrences.
            passages: (n,) the passages that hold them.
            total_passages: all passages.
            min_count: words that occur less often are left out.
            max_vocab_size: keep that many words at most, the most frequent, beside `<oov>`.
            word_list: keep exactly these words, those that never occur too (their count is 0).
            known: words that keep the ranks that they have in this array, and so their codes, however often they
                occur by now; other words are ranked behind them. `max_vocab_size` counts them too, and takes none away.

        Raises:
            BitcipherError: if the choice leaves no word.
        """
        words = pa.array(words, pa.large_string())
        counts, passages = np.asarray(counts, np.int64), np.asarray(passages, np.int64)
        is_oov = np.asarray(pc.equal(words, OOV), bool)
        must = [] if known is None else [word for word in known.to_pylist() if word != OOV]
        if word_list is None:
            is_kept = (counts >= min_count) & ~is_oov
            if must:
                is_kept &= ~np.asarray(pc.is_in(words, pa.array(must, pa.large_string())))
            kept = np.flatnonzero(is_kept)
            if max_vocab_size is not None:
                kept = kept[_rank_order(words.take(pa.array(kept)), counts[kept])[: max(0, max_vocab_size - len(must))]]
            chosen = pa.concat_arrays([pa.array(must, pa.large_string()), words.take(pa.array(kept))])
        else:
            listed = (word for word in word_list if word != OOV)
            chosen = pc.unique(pa.array([*must, *listed], pa.large_string()))
        places = np.asarray(pc.index_in(chosen, words).fill_null(-1), np.int64)
        found = places >= 0
        chosen_counts, chosen_passages = np.zeros((2, len(chosen)), np.int64)
        chosen_counts[found], chosen_passages[found] = counts[places[found]], passages[places[found]]
        if not len(chosen):
            raise BitcipherError(_why_empty(len(words), counts, word_list is not None))
        left_out_count = counts.sum() - chosen_counts.sum()
        left_out_passages = min(total_passages, passages.sum() - chosen_passages.sum())
        all_words = pa.concat_arrays([chosen, pa.array([OOV], pa.large_string())])
        all_counts = np.append(chosen_counts, left_out_count)
        order = _rank_order(all_words, all_counts)
        if known is not None:
            known_ranks = np.asarray(pc.index_in(all_words, known).fill_null(len(known)), np.int64)
            order = order[np.argsort(known_ranks[order], kind="stable")]
        all_passages = np.append(chosen_passages, left_out_passages)
        return cls(all_words.take(pa.array(order)), all_counts[order], all_passages[order], total_passages)

    def __len__(self) -> int:
        """Words in the vocabulary, `<oov>` included."""
        return len(self.words)

    @cached_property
    def oov_rank(self) -> int:
        """The rank of `<oov>`."""
        return pc.index(self.words, OOV).as_py()

    @property
    def total_count(self) -> int:
        """All tokens of the corpus, SPEC 1's M."""
        return int(self.counts.sum())

    def ranks(self, words: pa.LargeStringArray) -> np.ndarray:
        """The rank of each word, (n,) int32; that of `<oov>` for words outside the vocabulary."""
        return np.asarray(pc.index_in(words, self.words).fill_null(self.oov_rank), np.int32)

    def row_order(self) -> np.ndarray:
        """The place of each rank in the order of the words' bytes, (N,) int64: that of rows of merged pairs."""
        order = np.empty(len(self), np.int64)
        order[byte_order(self.words)] = np.arange(len(self))
        return order

    def to_table(self) -> pa.Table:
        """Columns word, count and passages, a row a word in order of rank; all passages in the metadata."""
        schema = SCHEMA.with_metadata({"total_passages": str(self.total_passages)})
        return pa.Table.from_arrays([self.words, pa.array(self.counts), pa.array(self.passages)], schema=schema)

    @classmethod
    def from_table(cls, table: pa.Table) -> "Vocabulary":
        """The vocabulary that `to_table` wrote."""
        words, counts, passages = (column.combine_chunks() for column in table.columns)
        return cls(words, counts.to_numpy(), passages.to_numpy(), int(table.schema.metadata[b"total_passages"]))


SCHEMA = pa.schema(
    [
        pa.field("word", pa.large_string(), nullable=False),
        pa.field("count", pa.int64(), nullable=False),
        pa.field("passages", pa.int64(), nullable=False),
    ]
)


def byte_order(words: pa.LargeStringArray) -> np.ndarray:
    """The places of words in ascending order of their UTF-8 bytes, (n,) int64."""
    return np.asarray(pc.sort_indices(words.cast(pa.large_binary())), np.int64)


def _rank_order(words: pa.LargeStringArray, counts: np.ndarray) -> np.ndarray:
    by_bytes = byte_order(words)
    return by_bytes[np.argsort(-counts[by_bytes], kind="stable")]


def _why_empty(size: int, counts: np.ndarray, listed: bool) -> str:
    if listed:
        return "The word list holds no words: give one word a line."
    if not size:
        return "The sources hold no words: check that they hold text, and that the field and tokenizer are right."
    return (
        f"No word is left: the most frequent of {size:,} words occurs {counts.max():,} times; lower the minimum count."
    )

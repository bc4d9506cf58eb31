"""`Vocabulary`: words in order of rank, with their occurrences and passages."""

from collections.abc import Iterable
from functools import cached_property
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from bitcipher.count_limits import check_word_counts
from bitcipher.errors import BitcipherError

# The entry that all words outside the vocabulary share. A token with this spelling is counted as this entry, too.
OOV = "<oov>"


class OtherWords(NamedTuple):
    """Sums over words of a corpus that cannot be chosen for its vocabulary."""

    words: int
    """Number of words."""
    count: int
    """Sum of their occurrences."""
    passages: int
    """Sum of the numbers of passages that contain them."""


NO_WORDS = OtherWords(0, 0, 0)


class Vocabulary:
    """Words ranked by count, descending; ties are broken by UTF-8 bytes.

    Attributes:
        words: (N,) words in order of rank, including `<oov>`.
        counts: (N,) int64, occurrences of each word.
        passages: (N,) int64, passages that contain each word; a passage is a slice of at most 2,000 tokens of a
            document. The value of `<oov>` is the sum over its words, but at most the number of all passages.
        total_passages: number of all passages.

    Raises:
        BitcipherError: if a count is negative, or the counts are too large to add them up exactly.
    """

    def __init__(self, words: pa.LargeStringArray, counts: np.ndarray, passages: np.ndarray, total_passages: int):
        self.words = words
        self.counts = np.asarray(counts, np.int64)
        self.passages = np.asarray(passages, np.int64)
        self.total_passages = int(total_passages)
        check_word_counts(self.counts, "The words of the vocabulary")

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
        ranked_words: pa.LargeStringArray | None = None,
        others: OtherWords = NO_WORDS,
    ) -> "Vocabulary":
        """Choose and rank the vocabulary of a corpus.

        Args:
            words: unique words of the corpus, in any order; without `others`.
            counts: (n,) occurrences of each word.
            passages: (n,) passages that contain each word.
            total_passages: number of all passages.
            min_count: minimum occurrences of a word.
            max_vocab_size: maximum number of words besides `<oov>`; the most frequent ones are chosen.
            word_list: choose exactly these words, even those that do not occur in the corpus (their count is 0).
                `min_count` and `max_vocab_size` are then ignored.
            ranked_words: words of an earlier vocabulary. They keep their ranks, and thereby their codes, regardless of
                their present counts. Other words are ranked after them. `ranked_words` count toward `max_vocab_size`,
                but are never removed.
            others: further words of the corpus, which cannot be chosen and are counted as `<oov>`.

        Raises:
            BitcipherError: if no word is chosen, or the counts are too large.
        """
        corpus_words = pa.array(words, pa.large_string())
        counts, passages = np.asarray(counts, np.int64), np.asarray(passages, np.int64)
        check_word_counts(counts, "The words of the corpus")
        is_oov = np.asarray(pc.equal(corpus_words, OOV), bool)
        empty = pa.array([], pa.large_string())
        required = empty if ranked_words is None else ranked_words.filter(pc.not_equal(ranked_words, OOV))
        if word_list is None:
            is_candidate = (counts >= min_count) & ~is_oov
            if len(required):
                is_candidate &= ~np.asarray(pc.is_in(corpus_words, required))
            added = np.flatnonzero(is_candidate)
            if max_vocab_size is not None:
                order = _rank_order(corpus_words.take(pa.array(added)), counts[added])
                added = added[order[: max(0, max_vocab_size - len(required))]]
            selected = pa.concat_arrays([required, corpus_words.take(pa.array(added))])
            indices = np.concatenate([_find(required, corpus_words), added])
        else:
            listed = pa.array((word for word in word_list if word != OOV), pa.large_string())
            selected = pc.unique(pa.concat_arrays([required, listed]))
            indices = _find(selected, corpus_words)
        in_corpus = indices >= 0
        selected_counts, selected_passages = np.zeros((2, len(selected)), np.int64)
        selected_counts[in_corpus] = counts[indices[in_corpus]]
        selected_passages[in_corpus] = passages[indices[in_corpus]]
        if not len(selected):
            raise BitcipherError(_describe_empty(len(corpus_words) + others.words, counts, word_list is not None))
        oov_count = counts.sum() + others.count - selected_counts.sum()
        oov_passages = min(total_passages, passages.sum() + others.passages - selected_passages.sum())
        all_words = pa.concat_arrays([selected, pa.array([OOV], pa.large_string())])
        del selected
        all_counts = np.append(selected_counts, oov_count)
        order = _rank_order(all_words, all_counts)
        if ranked_words is not None:
            old_ranks = np.asarray(pc.index_in(all_words, ranked_words).fill_null(len(ranked_words)), np.int64)
            order = order[np.argsort(old_ranks[order], kind="stable")]
        all_passages = np.append(selected_passages, oov_passages)
        return cls(all_words.take(pa.array(order)), all_counts[order], all_passages[order], total_passages)

    def __len__(self) -> int:
        """Number of words, including `<oov>`."""
        return len(self.words)

    @cached_property
    def oov_rank(self) -> int:
        """Rank of `<oov>`."""
        return pc.index(self.words, OOV).as_py()

    @property
    def total_count(self) -> int:
        """Number of tokens in the corpus."""
        return int(self.counts.sum())

    def ranks(self, words: pa.LargeStringArray) -> np.ndarray:
        """Return the rank of each word, (n,) int32. Words outside the vocabulary have the rank of `<oov>`."""
        return np.asarray(pc.index_in(words, self.words).fill_null(self.oov_rank), np.int32)

    @cached_property
    def by_bytes(self) -> np.ndarray:
        """Ranks in the order of the words' bytes, (N,) int32."""
        return byte_order(self.words).astype(np.int32)

    def row_order(self) -> np.ndarray:
        """Return the position of each rank in the order of the words' bytes, (N,) int64: the order of merged rows."""
        order = np.empty(len(self), np.int64)
        order[self.by_bytes] = np.arange(len(self))
        return order

    def to_table(self) -> pa.Table:
        """Return the columns word, count and passages in order of rank, with `total_passages` in the metadata."""
        schema = SCHEMA.with_metadata({"total_passages": str(self.total_passages)})
        return pa.Table.from_arrays([self.words, pa.array(self.counts), pa.array(self.passages)], schema=schema)

    @classmethod
    def from_table(cls, table: pa.Table) -> "Vocabulary":
        """Return the vocabulary of a table that `to_table` made."""
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
    """Return the indices that sort words by their UTF-8 bytes, (n,) int64."""
    return np.asarray(pc.sort_indices(words.cast(pa.large_binary())), np.int64)


def _find(words: pa.LargeStringArray, corpus_words: pa.LargeStringArray) -> np.ndarray:
    """Return the index of each word in the words of a corpus, (n,) int64, or -1."""
    if not len(words):  # Arrow would make an index of all words of the corpus
        return np.empty(0, np.int64)
    return np.asarray(pc.index_in(words, corpus_words).fill_null(-1), np.int64)


def _rank_order(words: pa.LargeStringArray, counts: np.ndarray) -> np.ndarray:
    by_bytes = byte_order(words)
    return by_bytes[np.argsort(-counts[by_bytes], kind="stable")]


def _describe_empty(size: int, counts: np.ndarray, listed: bool) -> str:
    if listed:
        return "The word list contains no words: write one word per line."
    if not size:
        return "The sources contain no words: check that they contain text, and check the field and the tokenizer."
    return (
        f"No word reaches the minimum count: the largest count of {size:,} words is {counts.max():,}. "
        "Lower `min_count`."
    )

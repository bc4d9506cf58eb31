"""Tables of vectors that also depend on the spelling of words."""

from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
from threadpoolctl import threadpool_limits

from bitcipher.embedding.row_blocks import Finish, RowSource, finished_rows
from bitcipher.spelling.spelling import FIT_WORDS, Spelling
from bitcipher.vectors.cipher_vectors import CipherVectors
from bitcipher.vocabulary import Vocabulary
from pipelines.embed.table_vectors import RawTable


@dataclass(frozen=True)
class SpelledRows:
    """Vectors of the contexts of words, and of their spelling."""

    rows: RowSource
    """(N, d) raw rows in order of rank."""
    finish: Finish
    """Makes the vectors of the contexts from a block of raw rows."""
    words: pa.LargeStringArray
    """(N,) words in order of rank."""
    counts: np.ndarray
    """(N,) int64, occurrences of the words."""
    spelling: Spelling
    """Vectors of n-grams."""

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of rows and columns."""
        return self.rows.shape

    @property
    def in_memory(self) -> bool:
        """Whether this process has the rows in memory."""
        return self.rows.in_memory

    def read(self, start: int, stop: int) -> np.ndarray:
        """Return the vectors from `start` on and before `stop`, (n, d) float32."""
        blocks = list(finished_rows(self.rows, self.finish, start, stop))
        contexts = np.concatenate([np.empty((0, self.shape[1]), np.float32), *blocks])
        end = start + len(contexts)
        return self.spelling.add_to(contexts, self.words.slice(start, len(contexts)), self.counts[start:end])


@threadpool_limits.wrap(limits=1)  # BLAS sums depend on the number of threads
def add_spelling(table: RawTable, vocabulary: Vocabulary, share: float, threads: int) -> RawTable:
    """Return a table whose vectors also depend on the spelling of words. It is fitted to the most frequent words.

    Args:
        table: raw rows whose vectors have length 1.
        vocabulary: words of the rows.
        share: see `Spelling`. With 0, the table is returned as it is.
        threads: number of threads. The result does not depend on it.
    """
    if not share:
        return table
    number = min(FIT_WORDS, len(vocabulary))
    vectors = np.concatenate(list(finished_rows(table.rows, table.finish, 0, number)))
    spelling = Spelling.fit(vocabulary.words, vectors, vocabulary.counts, share, threads)
    rows = SpelledRows(table.rows, table.finish, vocabulary.words, vocabulary.counts, spelling)
    return replace(table, rows=rows, finish=keep_rows, learned={**table.learned, **spelling.to_arrays()})


def context_vectors(vectors: CipherVectors, rows: np.ndarray) -> np.ndarray:
    """Return the vectors of the contexts of some words, without their spelling, (n, d) float64.

    Args:
        vectors: vectors of length 1 or 0.
        rows: (n,) int64, row numbers of the words.
    """
    table = np.asarray(vectors.vectors[rows])
    if vectors.spelling is None:
        return table.astype(np.float64)
    counts = None if vectors.counts is None else vectors.counts[rows]
    return vectors.spelling.remove_from(table, vectors.words.take(pa.array(rows)), counts)[0]


def keep_rows(rows: np.ndarray) -> np.ndarray:
    """Return a block of vectors as it is."""
    return rows

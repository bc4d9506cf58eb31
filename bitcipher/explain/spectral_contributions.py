"""Contributions to similarities in mode spectral.

The row of a word w is Σ M[w, c] · v[c] over the blocks of the weighted matrix M (one per offset, and one for the whole
window) and over the context words c, with the context vectors v (see `ContextVectors`). The product of the row with a
direction u is therefore the sum of M[w, c] · (v[c] · u).

If the vectors depend on the spelling, the vector of w is (row / |row| + share · spelling) / length. Its product with u
is the product of the row, divided by |row| · length, and a product with each part of the spelling.
"""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pyarrow as pa

from bitcipher.cores import available_cores
from bitcipher.embedding.row_blocks import block_slices
from bitcipher.embedding.spectral.basis import Basis
from bitcipher.embedding.spectral.operand import Operand
from bitcipher.embedding.spectral.spectral_embedding import SpectralEmbedding
from bitcipher.errors import BitcipherError
from bitcipher.explain import kernels
from bitcipher.explain.contributions import Contribution, ContributionArrays
from bitcipher.explain.explained_vectors import ExplainedVectors, LastRows
from bitcipher.rows.context_vectors import ContextVectors
from bitcipher.rows.row_index import RowIndex, find_row_index, write_row_index
from bitcipher.rows.spectral_rows import SpectralRows, iter_rows
from bitcipher.spelling.spelling import Spelling
from bitcipher.vocabulary import OOV


class SpectralContributions:
    """Contributions of context words to similarities of vectors of mode spectral.

    Args:
        explained: the vectors and their counts.
        embedding: the embedding that made the vectors.
    """

    def __init__(self, explained: ExplainedVectors, embedding: SpectralEmbedding):
        self._vectors = explained.vectors
        self._counts, self._window = explained.counts, explained.provenance.window
        self._spelling = Spelling.from_arrays(explained.vectors.refinement)
        basis = Basis.from_arrays(explained.provenance.arrays)
        self._columns = basis.columns(explained.counts.vocabulary)
        self._contexts = explained.context_vectors or ContextVectors.from_counts(
            explained.counts, self._window, basis, embedding
        )
        self._index: RowIndex | None = None
        self._digests = explained.provenance.digests
        self._rows = LastRows(self._read_rows, explained.selected)

    def open_index(self, folder: str) -> bool:
        """Find rows in an index from now on, if a folder has that of these vectors; return whether it does."""
        self._index = find_row_index(folder, self._made_from(), len(self._columns))
        return self._index is not None

    def write_index(self, folder: str) -> None:
        """Write an index of the rows of all words into a folder."""
        marginals, words = self._contexts.marginals, np.arange(len(self._columns))
        parts = iter_rows(self._counts, self._window, self._columns, marginals, words)
        write_row_index(folder, self._made_from(), len(marginals.sums), (rows for _, rows in parts))

    def arrays(self, row: int, other: int) -> ContributionArrays:
        """Return all contributions to the cosine of a word's vector with the direction of another word or itself."""
        rows = self._rows.of(np.array([row, other]))
        units = np.stack([self._context_units(np.array([row]))[0][0], self._unit(row), self._unit(other)])
        directions = self._contexts.transform(units)
        offsets, contexts, products = [], [], []
        for block in self._contexts.blocks:
            columns, weights = rows.pairs(row, block)
            offsets.append(np.full(len(columns), rows.offset_of(block)))
            contexts.append(rows.rank_of_column[columns])
            of_contexts = self._contexts.products(block, columns, directions)
            products.append(weights.astype(np.float64)[:, None] * of_contexts)
        of_pairs = np.concatenate(products)
        # The product of a row with its own direction is its length.
        length = of_pairs[:, 0].sum()
        own, weights = (of_pairs[:, column] / (length if length > 0 else 1) for column in (1, 2))
        ngrams, parts = self._parts_of_spelling(row)
        # The vector's product with itself is 1.
        whole = own.sum() + (parts @ units[1]).sum()
        weights, shares = (each / (whole if whole > 0 else 1) for each in (weights, parts @ units[2]))
        return ContributionArrays(
            np.concatenate(offsets),
            np.concatenate(contexts),
            weights,
            dict(zip(ngrams, shares.tolist(), strict=True)),
            0.0,
        )

    def strongest(self, rows: np.ndarray, topn: int) -> Iterator[list[Contribution]]:
        """Yield the strongest contributions to the similarity of each of many rows with itself.

        The pairs of as many words as fit in memory are read at once.
        """
        marginals = self._contexts.marginals
        for part, found in iter_rows(self._counts, self._window, self._columns, marginals, rows):
            yield from self._strongest_of(found, rows[part], topn)

    def _strongest_of(self, found: SpectralRows, rows: np.ndarray, topn: int) -> Iterator[list[Contribution]]:
        norms = self._vectors.norms[rows].astype(np.float32)[:, None]
        vectors = np.asarray(self._vectors.vectors[rows])
        units = np.divide(vectors, norms, out=np.zeros_like(vectors), where=norms > 0)
        transformed = self._contexts.transform(units).astype(np.float32)
        totals, weights = np.zeros(len(rows)), np.zeros((len(rows), topn), np.float32)
        columns, blocks = np.zeros((len(rows), topn), np.int32), np.zeros((len(rows), topn), np.int64)
        threads = available_cores()
        parts = [slice(part * len(rows) // threads, (part + 1) * len(rows) // threads) for part in range(threads)]
        with ThreadPoolExecutor(threads) as pool:
            for block in self._contexts.blocks:
                pairs = found.rows.starts[block], found.rows.contexts, found.rows.weights
                table = self._contexts.table(block)

                def add(part: slice, pairs: Any = pairs, table: Operand = table, block: int = block) -> None:
                    results = (each[part] for each in (totals, weights, columns, blocks))
                    words = found.row_of_rank[rows[part]]
                    kernels.add_strongest(words, *pairs, table, transformed[part], block, *results)

                list(pool.map(add, parts))
        weights /= (np.where(totals > 0, totals, 1) * self._scales_of_spelling(rows, units))[:, None].astype(np.float32)
        words = self._vectors.index_to_key
        for of_word in zip(weights.tolist(), columns.tolist(), blocks.tolist(), strict=True):
            yield [
                Contribution(found.offset_of(block), words[found.rank_of_column[column]], weight)
                for weight, column, block in zip(*of_word, strict=True)
                if weight
            ]

    def _made_from(self) -> dict[str, str]:
        if self._contexts.sha256 is None or "counts" not in self._digests:
            raise BitcipherError(
                "These vectors were stored without context vectors, which an index of explanations is made from: make "
                "them again with `bitcipher embed`."
            )
        return {"counts": self._digests["counts"], "context_vectors": self._contexts.sha256}

    def _read_rows(self, rows: np.ndarray) -> SpectralRows:
        if self._index is not None:
            return self._index.rows(rows, self._columns)
        selected = np.zeros(len(self._columns), bool)
        selected[rows] = True
        return SpectralRows.of_words(self._counts, self._window, self._columns, self._contexts.marginals, selected)

    def _scales_of_spelling(self, rows: np.ndarray, units: np.ndarray) -> np.ndarray:
        """Return the number that each word's contributions are divided by, in addition to the product of row and unit.

        The product of the row with the unit vector u of the word is |row| · (context · u), but its contributions to the
        similarity are divided by |row| · length.

        Args:
            rows: (n,) int64, row numbers of the words.
            units: (n, d) float32, their vectors, scaled to length 1.
        """
        if self._spelling is None:
            return np.ones(len(units))
        scales = np.empty(len(units))
        for block in block_slices(len(units)):
            contexts, lengths = self._context_units(rows[block])
            along = np.einsum("ij,ij->i", contexts, units[block])
            scales[block] = np.divide(lengths, along, out=np.ones_like(along), where=along > 0)
        return scales

    def _context_units(self, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the unit vectors of the contexts of some words, (n, d) float64, and the lengths of their sums with the
        spelling, (n,) float64.
        """
        if self._spelling is None:
            return np.stack([self._unit(row) for row in rows]), np.ones(len(rows))
        words = self._vectors.words.take(pa.array(rows))
        return self._spelling.remove_from(np.asarray(self._vectors.vectors[rows]), words, self._occurrences(rows))

    def _occurrences(self, rows: np.ndarray) -> np.ndarray | None:
        """Return the occurrences of some words, (n,) int64, or None if they are unknown."""
        return None if self._vectors.counts is None else self._vectors.counts[rows]

    def _parts_of_spelling(self, row: int) -> tuple[list[str], np.ndarray]:
        """Return the n-grams of a word, and their parts in its vector before it is scaled to length 1, (n, d)."""
        word = self._vectors.words[row].as_py()
        if self._spelling is None or word == OOV or not self._vectors.norms[row]:
            return [], np.zeros((0, self._vectors.vector_size))
        parts = self._spelling.parts(word)
        vectors = np.array([part.vector for part in parts], np.float64).reshape(len(parts), self._vectors.vector_size)
        return [part.ngram for part in parts], self._spelling.shares(self._occurrences(np.array([row]))) * vectors

    def _unit(self, row: int) -> np.ndarray:
        """Return the unit vector of a word, (d,) float64; zeros if its vector is zero."""
        return np.asarray(self._vectors.vectors[row], np.float64) / (self._vectors.norms[row] or 1.0)

"""Word similarity: correlation of cosines with human scores."""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from bitcipher.errors import BitcipherError
from bitcipher.evaluation.case_variants import CaseVariants
from bitcipher.evaluation.evaluation_sets import read_pairs
from bitcipher.spelling.spelling import Spelling
from bitcipher.table.keys import Oov, check_oov
from bitcipher.table.vector_table import VectorTable


@dataclass(frozen=True)
class WordPairsResult:
    """Correlation of cosines with human similarity scores."""

    spearman: float
    """Rank correlation, 0 if all cosines are equal."""
    pearson: float
    """Linear correlation, 0 if all cosines are equal."""
    pairs: int
    """Number of pairs in the file."""
    covered: int
    """Pairs whose two words are both in the vocabulary."""
    unknown: tuple[str, ...]
    """Words of the file that are outside the vocabulary, sorted."""
    spearman_pvalue: float
    """Probability of a rank correlation at least as strong without any relation."""
    pearson_pvalue: float
    """Probability of a linear correlation at least as strong without any relation."""

    @property
    def coverage(self) -> float:
        """Share of pairs whose two words are both in the vocabulary."""
        return self.covered / self.pairs

    def __iter__(self) -> Iterator[Any]:
        """Yield gensim's result: (Pearson, p-value), (Spearman, p-value), percentage of pairs with unknown words."""
        yield self.pearson, self.pearson_pvalue
        yield self.spearman, self.spearman_pvalue
        yield 100 * (1 - self.coverage)


def evaluate_word_pairs(
    vectors: VectorTable,
    pairs: str | os.PathLike[str],
    delimiter: str | None = None,
    restrict_vocab: int | None = 300_000,
    case_insensitive: bool = True,
    dummy4unknown: bool = False,
    oov: Oov = False,
) -> WordPairsResult:
    """Correlate cosines with human similarity scores. Names and defaults are gensim's, except for `oov`.

    Args:
        vectors: the vectors.
        pairs: a file with two words and a score per line, see `read_pairs`.
        delimiter: column separator of the file, by default tabs or spaces.
        restrict_vocab: use only this many of the most frequent words.
        case_insensitive: whether to ignore case. Among words that differ only in case, the most frequent one is used.
        dummy4unknown: whether pairs with an unknown word get the cosine 0 instead of being skipped.
        oov: True to give unknown words the vector of `<oov>`, "spelling" to give them one from their character n-grams.
            All pairs are then scored. If case is ignored, the n-grams are those of the lowercase word.

    Raises:
        BitcipherError: if the file is missing or damaged, if the vocabulary covers fewer than two pairs without `oov`,
            or if the vectors have no `<oov>` or no n-grams for unknown words.
    """
    check_oov(oov)
    scored = read_pairs(pairs, delimiter)
    variants = CaseVariants(vectors.index_to_key[:restrict_vocab], case_insensitive, vectors.normalize_key)
    is_covered = np.array([pair.first in variants and pair.second in variants for pair in scored])
    covered = int(is_covered.sum())
    if covered < 2 and not oov:
        raise BitcipherError(
            f"The vocabulary covers {covered} of the {len(scored):,} pairs in {os.fspath(pairs)}, and at least 2 "
            "are needed: check that the language is the same."
        )
    # Imported only here, since importing scipy.stats takes most of a second.
    from scipy import stats

    words = sorted({word for pair in scored for word in pair[:2]})
    units, position = _units(vectors, variants, words, oov), {word: row for row, word in enumerate(words)}
    first, second = [position[pair.first] for pair in scored], [position[pair.second] for pair in scored]
    cosines = np.einsum("ij,ij->i", units[first], units[second])
    is_scored = np.ones(len(scored), bool) if dummy4unknown or oov else is_covered
    scores = np.array([pair.score for pair in scored])
    spearman, pearson, pvalues = 0.0, 0.0, (1.0, 1.0)
    if np.ptp(cosines[is_scored]) and np.ptp(scores[is_scored]):
        ranked: Any = stats.spearmanr(scores[is_scored], cosines[is_scored])
        linear: Any = stats.pearsonr(scores[is_scored], cosines[is_scored])
        spearman, pearson = ranked.statistic, linear.statistic
        pvalues = float(ranked.pvalue), float(linear.pvalue)
    unknown = tuple(word for word in words if word not in variants)
    return WordPairsResult(float(spearman), float(pearson), len(scored), covered, unknown, *pvalues)


def _units(vectors: VectorTable, variants: CaseVariants, words: list[str], oov: Oov) -> np.ndarray:
    """Return vectors of length 1, (n, d) float64. Without `oov`, unknown words have zeros."""
    is_known = np.array([word in variants for word in words])
    units = np.zeros((len(words), vectors.vector_size))
    units[is_known] = _unit_rows(vectors, [variants.row(word) for word in words if word in variants])
    unknown = [word for word in words if word not in variants]
    if oov == "spelling" and unknown:
        spelling = Spelling.require(vectors.refinement, unknown[0])
        units[~is_known] = spelling.predict([variants.spell(word) for word in unknown])
    elif oov and unknown:
        units[~is_known] = _unit_rows(vectors, [vectors.get_index(unknown[0], oov=True)])
    return units


def _unit_rows(vectors: VectorTable, rows: list[int]) -> np.ndarray:
    lengths = vectors.norms[rows, None]
    return np.asarray(vectors.vectors)[rows] / np.where(lengths > 0, lengths, 1)

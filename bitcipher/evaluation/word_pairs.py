"""Word similarity: whether the cosines of pairs of words are in the order that people put them in."""

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from bitcipher.errors import BitcipherError
from bitcipher.evaluation.case_variants import CaseVariants
from bitcipher.evaluation.evaluation_sets import read_pairs

if TYPE_CHECKING:
    from bitcipher.vectors import CipherVectors


@dataclass(frozen=True)
class WordPairsResult:
    """How cosines and people's scores go together."""

    spearman: float
    """Rank correlation; 0 if all cosines are equal."""
    pearson: float
    """Linear correlation; 0 if all cosines are equal."""
    pairs: int
    """In the file."""
    covered: int
    """Pairs of which the table holds both words."""
    unknown: tuple[str, ...]
    """The words that it does not hold, sorted."""

    @property
    def coverage(self) -> float:
        """The share of pairs of which the table holds both words."""
        return self.covered / self.pairs


def evaluate_word_pairs(
    vectors: "CipherVectors",
    pairs: str | os.PathLike[str],
    delimiter: str | None = None,
    restrict_vocab: int | None = 300_000,
    case_insensitive: bool = True,
    dummy4unknown: bool = False,
) -> WordPairsResult:
    """Compare cosines with people's scores of similarity; the names and defaults are gensim's.

    Args:
        vectors: the table.
        pairs: a file with two words and a score a line, see `read_pairs`.
        delimiter: between its columns; tabs or spaces by default.
        restrict_vocab: only so many of the most frequent words count as known.
        case_insensitive: whether case is passed over; the most frequent of words that differ in it has the vector.
        dummy4unknown: whether pairs with an unknown word have a cosine of 0 instead of being left out.

    Raises:
        BitcipherError: if the file is missing or damaged, or if the table holds both words of fewer than two pairs.
    """
    scored = read_pairs(pairs, delimiter)
    known = CaseVariants(vectors.index_to_key[:restrict_vocab], case_insensitive)
    is_covered = np.array([pair.first in known and pair.second in known for pair in scored])
    covered = [pair for pair, is_known in zip(scored, is_covered, strict=True) if is_known]
    if len(covered) < 2:
        raise BitcipherError(
            f"The vectors hold both words of {len(covered)} of the {len(scored):,} pairs of {os.fspath(pairs)}: is it "
            "the same language?"
        )
    from scipy import stats  # takes most of a second, which a job that only asks for neighbors is spared

    cosines = np.zeros(len(scored))
    cosines[is_covered] = _cosines(
        vectors, [known.row(pair.first) for pair in covered], [known.row(pair.second) for pair in covered]
    )
    asked = np.ones(len(scored), bool) if dummy4unknown else is_covered
    scores = np.array([pair.score for pair in scored])
    spearman, pearson = 0.0, 0.0
    if np.ptp(cosines[asked]) and np.ptp(scores[asked]):
        spearman = stats.spearmanr(scores[asked], cosines[asked]).statistic
        pearson = stats.pearsonr(scores[asked], cosines[asked]).statistic
    unknown = {word for pair in scored for word in pair[:2] if word not in known}
    return WordPairsResult(float(spearman), float(pearson), len(scored), len(covered), tuple(sorted(unknown)))


def _cosines(vectors: "CipherVectors", first: list[int], second: list[int]) -> np.ndarray:
    rows = np.asarray(vectors.vectors)
    products = np.einsum("ij,ij->i", rows[first], rows[second], dtype=np.float64)
    lengths = vectors.norms[first] * vectors.norms[second]
    return np.divide(products, lengths, out=np.zeros(len(first)), where=lengths > 0)

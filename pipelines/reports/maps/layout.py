"""A map of words: words in two dimensions, so that those with similar vectors lie together, in groups.

Positions come from t-SNE (van der Maaten & Hinton 2008, JMLR 9) as in Linderman et al. 2019 (Nature Methods 16),
whose cost grows with the number of words and not with its square; groups come from k-means. Both start from a fixed
seed and run on one thread, so that the same vectors give the same map.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import openTSNE
from openTSNE.affinity import Uniform
from openTSNE.nearest_neighbors import PrecomputedNeighbors
from sklearn.cluster import KMeans
from sklearn.decomposition import PCA
from threadpoolctl import threadpool_limits

from bitcipher.errors import BitcipherError
from bitcipher.evaluation.neighbors import nearest_rows
from bitcipher.vectors import CipherVectors
from bitcipher.vocabulary import OOV

FEWEST_WORDS = 5

# As many as can be told apart by color.
MOST_GROUPS = 12

# Neighbors that pull a word to its place. 15 keeps the clusters of t-SNE's usual perplexity of 30 (Böhm et al. 2022,
# JMLR 23, section 3) and takes a sixth of its neighbors; of few words a third, or all would pull alike.
NEIGHBORS = 15

# Where gradients by interpolation (FFT) begin to be faster than those by trees; measured on one core.
FFT_WORDS = 4_000

# The standard deviation that t-SNE wants to start from.
START_DEVIATION = 1e-4

# As openTSNE has them by default, too: clusters form while attraction is exaggerated, and then spread.
EXAGGERATED_STEPS = 250
PLAIN_STEPS = 500
STEPS = EXAGGERATED_STEPS + PLAIN_STEPS

# Progress is told that often.
STEPS_TOLD = 10

SEED = 20


@dataclass(frozen=True)
class WordMap:
    """Words in order of rank and where they lie.

    Attributes:
        rows: (n,) int64, their rows in the table.
        units: (n, d) float32, their vectors at length 1.
        neighbors: (n, k) int64, the nearest words as numbers of this map, the nearest first.
        cosines: (n, k) float32, of these neighbors.
        places: (n, 2) float64, each axis from -1 to 1.
        groups: (n,) int64, the number of each word's group; group 0 holds the most frequent word.
    """

    rows: np.ndarray
    units: np.ndarray
    neighbors: np.ndarray
    cosines: np.ndarray
    places: np.ndarray
    groups: np.ndarray


def choose_rows(vectors: CipherVectors, most: int, letters_only: bool = False) -> np.ndarray:
    """The rows of the most frequent words that have a vector, (n,) int64.

    Args:
        vectors: the table.
        most: how many.
        letters_only: leave out numbers and signs.
    """
    has_vector = vectors.norms > 0
    rows = (
        row
        for row, word in enumerate(vectors.index_to_key)
        if has_vector[row] and word != OOV and (word.isalpha() or not letters_only)
    )
    return np.fromiter(rows, np.int64)[:most]


def unit_rows(vectors: CipherVectors, rows: np.ndarray) -> np.ndarray:
    """Vectors of some rows at length 1, (n, d) float32."""
    return (np.asarray(vectors.vectors[rows]) / vectors.norms[rows, None]).astype(np.float32)


def make_map(
    vectors: CipherVectors, rows: np.ndarray, advance: Callable[[str, int], None] = lambda stage, done: None
) -> WordMap:
    """The map of some words.

    Args:
        vectors: the table.
        rows: (n,) of the words, in order; see `choose_rows`.
        advance: called with the stage (neighbors or places) and how many words or steps are done since.

    Raises:
        BitcipherError: if there are too few words or dimensions to place.
    """
    units = unit_rows(vectors, rows)
    distinct = len(np.unique(units.round(6), axis=0))
    if distinct < FEWEST_WORDS or vectors.vector_size < 2:
        raise BitcipherError(
            f"A map needs {FEWEST_WORDS} words with different vectors of 2 dimensions at least; there are "
            f"{distinct}, of {vectors.vector_size}: build from more text, or with a lower minimum count."
        )
    neighbors, cosines = nearest_rows(units, np.arange(len(rows)), NEIGHBORS, lambda done: advance("neighbors", done))
    with threadpool_limits(1):
        places = _place(units, neighbors, cosines, lambda: advance("places", STEPS_TOLD))
        groups = KMeans(min(MOST_GROUPS, distinct // 2), n_init=4, random_state=SEED).fit_predict(units)
    _, first_of_group, groups = np.unique(groups, return_index=True, return_inverse=True)
    order = np.argsort(np.argsort(first_of_group))
    return WordMap(rows, units, neighbors, cosines, places, order[groups])


def _place(units: np.ndarray, neighbors: np.ndarray, cosines: np.ndarray, advance: Callable[[], None]) -> np.ndarray:
    pulling = min(neighbors.shape[1], max(2, len(units) // 3))
    distances = np.sqrt(np.maximum(0, 2 - 2 * cosines[:, :pulling].astype(np.float64)))
    affinities = Uniform(knn_index=PrecomputedNeighbors(neighbors[:, :pulling], distances), k_neighbors=pulling)
    start = PCA(2, svd_solver="covariance_eigh").fit_transform(units)
    start *= START_DEVIATION / max(start[:, 0].std(), np.finfo(np.float32).tiny)
    tsne = openTSNE.TSNE(
        n_jobs=1,
        random_state=SEED,
        early_exaggeration_iter=EXAGGERATED_STEPS,
        n_iter=PLAIN_STEPS,
        negative_gradient_method="fft" if len(units) >= FFT_WORDS else "bh",
        callbacks=lambda step, error, places: advance(),
        callbacks_every_iters=STEPS_TOLD,
    )
    places = np.asarray(tsne.fit(affinities=affinities, initialization=start), np.float64)
    # Main axes lie level, for pages are wider than high.
    places = PCA(2, svd_solver="full").fit_transform(places)
    return 2 * (places - places.min(axis=0)) / np.maximum(np.ptp(places, axis=0), np.finfo(np.float32).tiny) - 1

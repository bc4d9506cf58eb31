"""Two-dimensional layout and clustering of words.

Positions come from t-SNE (van der Maaten & Hinton 2008, JMLR 9) with interpolated gradients (Linderman et al. 2019,
Nature Methods 16), whose cost is linear in the number of words. Groups come from k-means. Both use a fixed seed and one
thread, so equal vectors give equal maps.
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
from bitcipher.vectors.cipher_vectors import CipherVectors
from bitcipher.vocabulary import OOV

MIN_WORDS = 5

# Number of distinguishable colors.
MAX_GROUPS = 12

# Number of neighbors that attract a word. 15 neighbors give the same clusters as t-SNE's usual perplexity of 30, for
# which 90 neighbors are used (Böhm et al. 2022, JMLR 23, section 3). On small maps, a third of the words are neighbors,
# because otherwise all words would attract each other equally.
NEIGHBORS = 15

# Number of words from which FFT-interpolated gradients are faster than Barnes-Hut trees, measured on one core.
FFT_WORDS = 4_000

# Width of the boxes of interpolation on maps with FFT. With a width of 1, openTSNE's default, a map of 20,000 words
# takes 41 s of CPU time instead of 11 s, and 39.4 instead of 38.6 % of a word's 15 neighbors are nearest on the map.
INTERVAL = 2

# Standard deviation of the initial positions, as recommended for t-SNE.
INIT_DEVIATION = 1e-4

# Defaults of openTSNE: clusters form during early exaggeration of the attraction, then spread.
EXAGGERATED_STEPS = 250
PLAIN_STEPS = 500
STEPS = EXAGGERATED_STEPS + PLAIN_STEPS

# Number of iterations between progress reports.
STEPS_PER_REPORT = 10

SEED = 20


@dataclass(frozen=True)
class WordMap:
    """Words sorted by rank, with their positions and groups on a map.

    Attributes:
        rows: (words,) int64, row of each word in the table of vectors.
        units: (words, dimensions) float32, vectors normalized to length 1.
        neighbors: (words, neighbors) int64, nearest words as word numbers of the map, nearest first.
        cosines: (words, neighbors) float32, cosine similarity of each word and each neighbor.
        positions: (words, 2) float64, horizontal and vertical position, each from -1 to 1.
        groups: (words,) int64, group of each word. Group 0 contains the most frequent word.
    """

    rows: np.ndarray
    units: np.ndarray
    neighbors: np.ndarray
    cosines: np.ndarray
    positions: np.ndarray
    groups: np.ndarray


def choose_rows(vectors: CipherVectors, max_words: int, letters_only: bool = False) -> np.ndarray:
    """Return the rows of the most frequent words that have a vector, (rows,) int64.

    Args:
        vectors: table of vectors.
        max_words: maximum number of rows.
        letters_only: skip words with digits or punctuation.
    """
    has_vector = vectors.norms > 0
    rows = (
        row
        for row, word in enumerate(vectors.index_to_key)
        if has_vector[row] and word != OOV and (word.isalpha() or not letters_only)
    )
    return np.fromiter(rows, np.int64)[:max_words]


def unit_rows(vectors: CipherVectors, rows: np.ndarray) -> np.ndarray:
    """Return the given rows normalized to length 1, (rows, dimensions) float32."""
    return (np.asarray(vectors.vectors[rows]) / vectors.norms[rows, None]).astype(np.float32)


def make_map(
    vectors: CipherVectors, rows: np.ndarray, advance: Callable[[str, int], None] = lambda stage, done: None
) -> WordMap:
    """Compute the map of the given rows.

    Args:
        vectors: table of vectors.
        rows: (words,) sorted rows of the words (see `choose_rows`).
        advance: called with the name of the step (`neighbors` or `layout`), and the number of words or iterations done
            since the last call.

    Raises:
        BitcipherError: if there are too few words or dimensions.
    """
    units = unit_rows(vectors, rows)
    distinct = len(np.unique(units.round(6), axis=0))
    if distinct < MIN_WORDS or vectors.vector_size < 2:
        raise BitcipherError(
            f"A map needs at least {MIN_WORDS} words with different vectors of at least 2 dimensions; there are "
            f"{distinct}, of {vectors.vector_size}: build from more text, or with a lower minimum count."
        )
    neighbors, cosines = nearest_rows(units, np.arange(len(rows)), NEIGHBORS, lambda done: advance("neighbors", done))
    with threadpool_limits(1):
        positions = _compute_positions(units, neighbors, cosines, lambda: advance("layout", STEPS_PER_REPORT))
        number = min(MAX_GROUPS, distinct // 2)
        # scikit-learn is untyped, so pyright infers the type of `n_init` from its default.
        means = KMeans(number, n_init=4, random_state=SEED)  # pyright: ignore[reportArgumentType]
        groups = means.fit_predict(units)
    _, first_of_group, groups = np.unique(groups, return_index=True, return_inverse=True)
    order = np.argsort(np.argsort(first_of_group))
    return WordMap(rows, units, neighbors, cosines, positions, order[groups])


def _compute_positions(
    units: np.ndarray, neighbors: np.ndarray, cosines: np.ndarray, advance: Callable[[], None]
) -> np.ndarray:
    """Return the positions of the words by t-SNE, (words, 2) float64, each axis from -1 to 1."""
    attracting = min(neighbors.shape[1], max(2, len(units) // 3))
    distances = np.sqrt(np.maximum(0, 2 - 2 * cosines[:, :attracting].astype(np.float64)))
    affinities = Uniform(knn_index=PrecomputedNeighbors(neighbors[:, :attracting], distances), k_neighbors=attracting)
    start = PCA(2, svd_solver="covariance_eigh").fit_transform(units)
    start *= INIT_DEVIATION / max(start[:, 0].std(), np.finfo(np.float32).tiny)
    tsne = openTSNE.TSNE(
        n_jobs=1,
        random_state=SEED,
        early_exaggeration_iter=EXAGGERATED_STEPS,
        n_iter=PLAIN_STEPS,
        negative_gradient_method="fft" if len(units) >= FFT_WORDS else "bh",
        ints_in_interval=INTERVAL,
        callbacks=lambda step, error, embedding: advance(),
        callbacks_every_iters=STEPS_PER_REPORT,
    )
    positions = np.asarray(tsne.fit(affinities=affinities, initialization=start), np.float64)
    # The first principal axis is horizontal, because pages are wider than high.
    positions = PCA(2, svd_solver="full").fit_transform(positions)
    return (
        2 * (positions - positions.min(axis=0)) / np.maximum(np.ptp(positions, axis=0), np.finfo(np.float32).tiny) - 1
    )

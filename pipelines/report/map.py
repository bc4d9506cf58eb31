"""A map of words: the frequent ones in two dimensions, so that words with similar vectors lie together.

Coordinates come from t-SNE (van der Maaten & Hinton 2008, JMLR 9), groups from k-means; both by scikit-learn, from a
fixed seed and on one thread, so that the same vectors give the same map.
"""

from dataclasses import dataclass

import numpy as np
from sklearn.cluster import KMeans
from sklearn.decomposition import PCA
from sklearn.manifold import TSNE
from threadpoolctl import threadpool_limits

from bitcipher.errors import BitcipherError
from bitcipher.vectors import CipherVectors
from bitcipher.vocabulary import OOV

# More take long (t-SNE: 5 s for 1,500) and lie too close to be read.
MOST_WORDS = 1_500

FEWEST_WORDS = 5

# As many as can be told apart by colour.
MOST_GROUPS = 12

# The usual number of neighbours that t-SNE minds; it needs three times as many words.
PERPLEXITY = 30

SEED = 20


@dataclass(frozen=True)
class WordMap:
    """Words in order of rank and where they lie.

    Attributes:
        words: (n,).
        places: (n, 2), each axis from -1 to 1.
        groups: (n,) the number of each word's group; group 0 holds the most frequent word.
        counts: (n,) occurrences, or None if the vectors do not know them.
    """

    words: list[str]
    places: np.ndarray
    groups: np.ndarray
    counts: np.ndarray | None


def make_map(vectors: CipherVectors) -> WordMap:
    """The map of the most frequent words that are letters only and have a vector.

    Raises:
        BitcipherError: if there are too few words or dimensions to place.
    """
    rows = [
        row
        for row, word in enumerate(vectors.index_to_key)
        if word.isalpha() and word != OOV and vectors.norms[row] > 0
    ][:MOST_WORDS]
    units = np.asarray(vectors.vectors)[rows] / vectors.norms[rows, None]
    distinct = len(np.unique(units.round(6), axis=0))
    # t-SNE crashes on points that are all one.
    if distinct < FEWEST_WORDS or vectors.vector_size < 2:
        raise BitcipherError(
            f"A map needs {FEWEST_WORDS} words of letters with different vectors of 2 dimensions at least; there are "
            f"{distinct}, of {vectors.vector_size}: build from more text, or with a lower minimum count."
        )
    with threadpool_limits(1):
        groups = KMeans(min(MOST_GROUPS, distinct // 2), n_init=4, random_state=SEED).fit_predict(units)
        perplexity = min(PERPLEXITY, (len(rows) - 1) / 3)
        tsne = TSNE(perplexity=perplexity, metric="cosine", init="pca", random_state=SEED, n_jobs=1)
        # Main axes lie level, for pages are wider than high.
        places = PCA(2, svd_solver="full").fit_transform(tsne.fit_transform(units))
    _, first_of_group, groups = np.unique(groups, return_index=True, return_inverse=True)
    order = np.argsort(np.argsort(first_of_group))
    return WordMap(
        [vectors.index_to_key[row] for row in rows],
        2 * (places - places.min(axis=0)) / np.maximum(np.ptp(places, axis=0), np.finfo(np.float32).tiny) - 1,
        order[groups],
        None if vectors.counts is None else vectors.counts[rows],
    )

"""gensim's `KeyedVectors` behind the web application of `bitcipher serve`: the peer of `compare_serving.py`.

serve_gensim.py FILE    FILE is what `KeyedVectors.save` wrote

OPENBLAS_NUM_THREADS sets the number of threads of each product.
"""

import sys
from concurrent.futures import Future, ThreadPoolExecutor

import numpy as np
from gensim.models import KeyedVectors

from cluster.neighbors import Neighbor, NeighborQuery, WordNeighbors
from cluster.serve.app import make_app
from cluster.serve.served_version import VectorsLocation
from cluster.serve.server import address_of, answer_requests, listen
from cluster.serve.server_metrics import ServerMetrics

# Threads of searches, as many as clients in the comparison.
THREADS = 16


class GensimTable(KeyedVectors):
    """Vectors of gensim, with the argument of our `get_vector` that the application gives."""

    def get_vector(self, key: str, norm: bool = False, oov: object = None) -> np.ndarray:
        """Return the vector of a word."""
        return np.asarray(super().get_vector(key, norm))  # not memory-mapped, which JSON cannot hold


class GensimVersion:
    """Stands in for `ServedVersion`: neighbors by gensim, and vectors, but no embeddings of sentences."""

    location = VectorsLocation("", None, None)

    def __init__(self, path: str):
        self.vectors = GensimTable.load(path, mmap="r")
        self.vectors.fill_norms()
        self._threads = ThreadPoolExecutor(THREADS)

    def find_neighbors(self, word: str, query: NeighborQuery) -> "Future[WordNeighbors]":
        """Return the future neighbors of a word."""
        return self._threads.submit(self._find, word, query)

    def _find(self, word: str, query: NeighborQuery) -> WordNeighbors:
        nearest = self.vectors.most_similar([word, *query.plus], [*query.minus], topn=query.topn)
        return WordNeighbors(word, query.plus, query.minus, (), [Neighbor(*each) for each in nearest])


def main() -> None:
    """Serve the vectors until SIGTERM."""
    served = GensimVersion(sys.argv[1])
    with listen("127.0.0.1", 0) as listener:
        print(f"Serving gensim at {address_of(listener)}. ", flush=True)
        metrics = ServerMetrics()
        answer_requests(make_app(lambda: served, metrics), listener, metrics)


if __name__ == "__main__":
    main()

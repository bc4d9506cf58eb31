"""`ServedVersion`: the vectors of one version with what answers need, and where they are stored."""

import ctypes
import gc
from concurrent.futures import Future
from contextlib import suppress
from functools import cached_property
from threading import Lock
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from bitcipher.cores import available_cores
from bitcipher.errors import BitcipherError
from bitcipher.explain.contributions import Explanation
from bitcipher.explain.explainer import Explainer
from bitcipher.files import storage
from bitcipher.rows.context_vectors import ContextVectors
from bitcipher.stored_build import open_build
from bitcipher.table.keys import Key
from bitcipher.terminal import print_text
from bitcipher.vectors import hub
from bitcipher.vectors.cipher_vectors import CipherVectors
from bitcipher.vectors.exact_search import ExactSearch
from bitcipher.versions import read_version, versions
from cluster.neighbors import NeighborFinder, NeighborQuery, WordNeighbors
from cluster.serve.search_queue import SearchedTable, SearchQueue


class VectorsLocation(NamedTuple):
    """Where the vectors of a version are stored."""

    uri: str
    """The folder or file of the vectors."""
    version: int | None
    """The version of the build that made them; None without a build."""
    published: int | None
    """The version of the build that they were found by: a later one if it was published without vectors of its own."""


def locate_vectors(uri: str, version: int | None = None) -> VectorsLocation:
    """Return where vectors are stored.

    Args:
        uri: a build, or a folder or file of vectors.
        version: version of the build, by default the newest.

    Raises:
        BitcipherError: if there is no such version, or no version has made vectors yet.
    """
    is_file = hub.is_hub_uri(uri) or storage.is_web_address(uri) or storage.is_local_file(uri)
    if version is None and (is_file or not versions(uri)):
        return VectorsLocation(uri, None, None)
    manifest = read_version(uri, version)
    folder = manifest.vectors_folder(uri)
    return VectorsLocation(folder, manifest.vectors_from and manifest.vectors_from.version, manifest.version)


class ServedVersion:
    """The vectors of a version, and the parts that some requests need, which are made by the first such request.

    `explain` and `encode` must not be called in several threads at once.

    Args:
        build: the build, or the folder or file of the vectors.
        location: where the vectors are stored.
        queue: the queue of searches.
        explain_index: local folder for an index of explanations, which is written if it has none of this version.

    Raises:
        BitcipherError: if there are no such vectors, they are damaged, or the index cannot be made.
    """

    def __init__(self, build: str, location: VectorsLocation, queue: SearchQueue, explain_index: str | None = None):
        self.location = location
        self.vectors = CipherVectors.load(location.uri, verify=True)
        self._queue = queue
        search = ExactSearch(self.vectors, available_cores())
        search.nearest(np.zeros((1, self.vectors.vector_size), np.float32), [1])  # compiles its kernels
        self._table = SearchedTable(NeighborFinder(self.vectors), search)
        self._build = build
        self._has_encoder = self.has_variants = False
        self._lock = Lock()
        if self.vectors.spelling is not None:
            self.vectors.spelling.predict(["a"])  # compiles its kernels
        if explain_index is not None:
            if not self._explainer.open_index(explain_index):
                print_text(f"Writing an index of explanations to {explain_index}.")
                self._explainer.write_index(explain_index)
                self._explainer.open_index(explain_index)
            self._explainer.explain(0)  # loads what the first request would wait for

    def warm_up(self, previous: "ServedVersion") -> None:
        """Make the parts that requests to the previous version have needed, so that the next ones need not wait."""
        if previous._has_encoder:
            self.encode([])
        if previous.has_variants:
            self.prepare_variants()

    def prepare_variants(self) -> None:
        """Make what searches need in which case does not matter."""
        with self._lock:
            self._table.finder.prepare_variants()
            self.has_variants = True

    def find_neighbors(self, word: str, query: NeighborQuery) -> "Future[WordNeighbors]":
        """Return the future nearest words of a word; see `SearchQueue.submit`."""
        return self._queue.submit(self._table, word, query)

    def encode(self, texts: list[str]) -> np.ndarray:
        """Return embeddings of texts, (n, d) float32; see `CipherVectors.encode`.

        Raises:
            BitcipherError: if the vectors have no counts of words.
        """
        if self.vectors.counts is None:
            raise BitcipherError("These vectors have no counts of words, which embeddings of sentences need.")
        embeddings = self.vectors.encode(texts)
        self._has_encoder = True
        return embeddings

    def explain(self, word: Key, other: Key | None, topn: int) -> Explanation:
        """Return the contributions of context words to a vector or a similarity; see `CipherVectors.explain`.

        Raises:
            BitcipherError: if there are no counts, or the vectors cannot be explained.
            UnknownWordError: if a word has no row.
        """
        for each in (word, other):
            if each is not None:
                self.vectors.get_index(each)  # before the counts are opened
        try:
            return self._explainer.explain(word, other, topn)
        finally:
            return_memory()

    @cached_property
    def _explainer(self) -> Explainer:
        if self.location.published is None:
            raise BitcipherError("These vectors have no counts of pairs, which explanations need: serve a build.")
        counts = open_build(self._build, self.location.published, self.vectors).counts_of_vectors
        return Explainer(self.vectors, counts, context_vectors=ContextVectors.read(self.location.uri))


def keep_out_of_collections() -> None:
    """Free cycles of objects, and leave the others out of all later collections.

    A full collection looks at each word of the vocabulary. Without this, it would stop all threads for 0.15 s, with
    100,000 words every two seconds.
    """
    gc.unfreeze()
    gc.collect()
    gc.freeze()


def return_memory() -> None:
    """Return memory that is not used to the system, after a version or the arrays of an explanation were freed.

    The allocators of C and Arrow keep it, in pieces that the next version cannot always use.
    """
    pa.default_memory_pool().release_unused()
    with suppress(OSError, AttributeError):  # not a function of each C library
        ctypes.CDLL(None).malloc_trim(0)

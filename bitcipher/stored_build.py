"""`Build`: the counts of a build with the vectors that were made from them, and `open_build`."""

import os
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from bitcipher.cooccurrence.count_matrices import CountMatrices
from bitcipher.counts.merged_counts import MergedCounts
from bitcipher.embedding.spectral.ppmi import Marginals, block_count
from bitcipher.errors import BitcipherError
from bitcipher.explain.contributions import Explanation
from bitcipher.files import storage
from bitcipher.rows.context_vectors import ContextVectors
from bitcipher.table.keys import Key
from bitcipher.table.manifest import MANIFEST
from bitcipher.vectors.cipher_vectors import CipherVectors
from bitcipher.version_manifest import CountedVersion
from bitcipher.versions import find_version, manifest_uri, versions

if TYPE_CHECKING:
    from bitcipher.explain.explainer import Explainer


def open_build(
    uri: str | os.PathLike[str],
    version: int | None = None,
    vectors: "str | os.PathLike[str] | CipherVectors | None" = None,
) -> "Build":
    """Open a build: its counts, and the vectors that were made from them.

    Args:
        uri: folder of the build, as a local path or a URI that fsspec supports.
        version: number of the version, by default the newest.
        vectors: other vectors of these counts than those of the version, such as a folder that `bitcipher embed` wrote.

    Raises:
        BitcipherError: if the folder is not a build or has no such version, or if its manifest or the table of its
            segments is damaged.
    """
    uri = os.fspath(uri)
    if not versions(uri) and storage.exists(storage.join(uri, MANIFEST)):
        raise BitcipherError(
            f"{uri} is a folder of vectors without counts: name the build that they were made from (by --counts on the "
            "command line)."
        )
    return Build(uri, _read(uri, version), vectors)


class Build(CountMatrices):
    """The counts of a version of a build, and the vectors that were made from them. `open_build` makes it.

    Args:
        uri: folder of the build.
        manifest: manifest of the version.
        vectors: see `open_build`.
    """

    def __init__(
        self,
        uri: str,
        manifest: CountedVersion,
        vectors: "str | os.PathLike[str] | CipherVectors | None" = None,
    ):
        super().__init__(uri, manifest)
        self._manifest = manifest
        self._given_vectors = vectors

    @cached_property
    def vectors(self) -> CipherVectors:
        """The vectors. A version that was published with `--vectors later` has those of an earlier version.

        Raises:
            BitcipherError: if no version has made vectors yet, or the given ones are missing or damaged.
        """
        if isinstance(self._given_vectors, CipherVectors):
            return self._given_vectors
        return CipherVectors.load(self._vectors_folder, verify=True)

    @cached_property
    def counts_of_vectors(self) -> MergedCounts:
        """The counts that the vectors were made from: those of this version, or of the version that made the vectors.

        Raises:
            BitcipherError: if the vectors were made from other counts, or that version was pruned.
        """
        manifest = self._made_vectors
        return self.merged_counts if manifest is self._manifest else Build(self.uri, manifest).merged_counts

    @cached_property
    def context_vectors(self) -> ContextVectors | None:
        """What explanations and inference need of all words, which mode spectral stores with the vectors.

        None if the folder of the vectors has none, or the vectors were given as an object.

        Raises:
            BitcipherError: if they are damaged.
        """
        return None if isinstance(self._given_vectors, CipherVectors) else ContextVectors.read(self._vectors_folder)

    @property
    def version_of_vectors(self) -> int:
        """Number of the version from whose counts the vectors were made.

        Raises:
            BitcipherError: if the vectors were made from other counts, or that version was pruned.
        """
        return self._made_vectors.version

    def explain(self, word: Key, other: Key | None = None, topn: int = 10) -> Explanation:
        """Return the contributions of context words, and of n-grams if there are any, to a vector or a similarity.

        Args:
            word: a word or a row number.
            other: another word or row number, to explain the similarity of both.
            topn: number of contributions of context words, and of n-grams, to list.

        Raises:
            BitcipherError: if the vectors are of mode cipher, were made from other counts, or a file is damaged.
            UnknownWordError: if a word has no row.
        """
        return self.explainer([word] if other is None else [word, other]).explain(word, other, topn)

    def explainer(self, only: Sequence[Key] | None = None) -> "Explainer":
        """Return an object that explains many vectors and similarities.

        Args:
            only: words or row numbers whose counts are read at once. Those of others are read when they are needed.

        Raises:
            BitcipherError: if the vectors are of mode cipher, were made from other counts, or a file is damaged.
            UnknownWordError: if a word has no row.
        """
        from bitcipher.explain.explainer import Explainer

        with ThreadPoolExecutor(1) as pool:
            # The file of the vectors is hashed when it is opened, which needs no more than one core.
            context_vectors = pool.submit(lambda: self.context_vectors)
            if self._manifest.has_own_vectors and self._given_vectors is None:
                pool.submit(lambda: self._segment_ranks)
            vectors, counts = self.vectors, self.counts_of_vectors
            return Explainer(vectors, counts, only, context_vectors.result())

    def infer(self, contexts: Iterable[Sequence[str]], word: str) -> np.ndarray:
        """Return the vector of a word from sentences that contain it, (d,) float32 of length 1, or zeros.

        It is zeros if none of its contexts has a weight in the build, such as one unknown word.

        Args:
            contexts: sentences or documents as sequences of tokens, tokenized as in the build.
            word: the token to infer a vector for.

        Raises:
            BitcipherError: if the sentences give the word no context, or the vectors were made from other counts.
        """
        from bitcipher.infer.inference import infer

        return infer(self.vectors, contexts, word, self.counts_of_vectors, self.context_vectors)

    @property
    def _vectors_folder(self) -> str:
        """URI of the folder of the vectors.

        Raises:
            BitcipherError: if no version has made vectors yet.
        """
        given = self._given_vectors
        assert not isinstance(given, CipherVectors)  # the callers have checked it
        return self._manifest.vectors_folder(self.uri) if given is None else os.fspath(given)

    @cached_property
    def _marginals(self) -> Marginals:
        """Number of pairs of each word: those of the vectors of this version if they have them, else from all pairs."""
        if self._manifest.has_own_vectors:
            is_given = self._given_vectors is not None
            folder = self._manifest.vectors_folder(self.uri)
            stored = ContextVectors.read(folder) if is_given else self.context_vectors
            if stored is not None and len(stored.marginals.sums) == block_count(self.window, self.summed):
                return stored.marginals
        return super()._marginals

    @cached_property
    def _made_vectors(self) -> CountedVersion:
        """Manifest of the version from whose counts the vectors were made.

        Raises:
            BitcipherError: if the vectors were made from other counts, or that version was pruned.
        """
        digests = self.vectors.manifest.get("digests")
        if digests == self._manifest.digests.to_dict():
            return self._manifest
        reference = self._manifest.vectors_from
        earlier = None if reference is None else reference.version
        if earlier in versions(self.uri):
            manifest = _read(self.uri, earlier)
            if digests == manifest.digests.to_dict():
                return manifest
        elif earlier is not None and self._given_vectors is None:
            raise BitcipherError(
                f"{self.uri}, version {self.version}, has the vectors of version {earlier}, whose counts were pruned: "
                f"make vectors of the present counts with `bitcipher update {self.uri} --vectors now`."
            )
        raise BitcipherError(
            f"The vectors were not made from the counts of {self.uri}, version {self.version}: name another build, or "
            "another version (by --counts and --version on the command line)."
        )


def _read(uri: str, version: int | None) -> CountedVersion:
    return CountedVersion.read(manifest_uri(uri, find_version(uri, version)))

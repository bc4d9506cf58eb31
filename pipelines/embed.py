"""From counts to vectors: a stage of every job, and all of `bitcipher embed`."""

from collections.abc import Iterator
from dataclasses import asdict, replace
from typing import Any

from bitcipher import storage
from bitcipher.counts import MergedCounts, Window
from bitcipher.embedding import Refinement
from bitcipher.errors import BitcipherError
from bitcipher.vectors import CipherVectors
from pipelines import folder
from pipelines.merged import open_merged, read_vocabulary
from pipelines.options import BuildOptions, EmbeddingOptions
from pipelines.runtime import Row, Runtime, StageSpec


class EmbedStage:
    """Makes vectors of a version's counts.

    Args:
        vocabulary: its file.
        segments: the parts of each segment, by URI.
        radius, summed: the window that was counted, see `Window`.
        embedding: the values of `EmbeddingOptions`.
        provenance: what to write down with the vectors about the counts.
    """

    def __init__(
        self,
        vocabulary: str,
        segments: list[list[str]],
        radius: int,
        summed: bool,
        embedding: dict[str, Any],
        provenance: dict[str, Any],
    ):
        self._vocabulary = vocabulary
        self._segments = segments
        self._window = Window(radius, summed)
        self._options = EmbeddingOptions(**embedding)
        self._provenance = provenance

    def __call__(self, row: Row) -> Iterator[Row]:
        """From the target's name to the sizes of the vectors that were saved there."""
        counts = open_merged(read_vocabulary(self._vocabulary), self._window, self._segments)
        vectors, empty = embed(counts, self._options, self._provenance)
        vectors.save(row["target"])
        yield {"words": len(vectors), "dimensions": vectors.vector_size, "empty_words": empty}


def embed(counts: MergedCounts, options: EmbeddingOptions, provenance: dict[str, Any]) -> tuple[CipherVectors, int]:
    """The refined vectors, and how many words have none, since nothing ever stood around them."""
    refinement = Refinement()
    table = refinement.fit_transform(options.embedding().table(counts))
    vocabulary = counts.vocabulary
    vectors = CipherVectors(
        vocabulary.words,
        table,
        vocabulary.counts,
        vocabulary.documents,
        refinement={"mean": refinement.mean_, "matrix": refinement.matrix_},
        manifest={**provenance, "embedding": asdict(options)},
    )
    return vectors, int((~table.any(axis=1)).sum())


def embed_build(build: str, target: str, chosen: dict[str, Any], runtime: Runtime, version: int | None = None) -> Row:
    """Make other vectors of a build's kept counts.

    Args:
        build: the folder of the build.
        target: the folder of the new vectors.
        chosen: values of `EmbeddingOptions`; what is left out is as in the build.
        runtime: where to run.
        version: of the build; the newest if not given.

    Returns:
        The words, dimensions, and words without a vector.
    """
    build, target = storage.absolute(build), storage.absolute(target)
    manifest = folder.read_manifest(build, version)
    if storage.exists(target):
        raise BitcipherError(f"{target} is already there: choose another name, or remove it first.")
    options = replace(BuildOptions.from_dict(manifest["options"], build).embedding, **chosen)
    (sizes,) = runtime.stream(embed_stage(build, manifest, options), [{"target": target}])
    return sizes


def embed_stage(build: str, manifest: Row, options: EmbeddingOptions) -> StageSpec:
    """The stage that makes vectors of a version's counts.

    Args:
        build: the folder of the build.
        manifest: that of the version, of which the vectors keep what tells where they come from.
        options: the vectors that are wanted.
    """
    window = BuildOptions.from_dict(manifest["options"], build).window
    digests = {name: manifest["digests"][name] for name in ("words", "counts")}
    arguments = {
        "vocabulary": folder.version_file(build, manifest, folder.WORDS),
        "segments": [[storage.join(build, part) for part in s["parts"]] for s in manifest["segments"]],
        "radius": window.radius,
        "summed": window.summed,
        "embedding": asdict(options),
        "provenance": {**{n: manifest[n] for n in ("bitcipher", "options", "tokens")}, "digests": digests},
    }
    return StageSpec("embed", EmbedStage, arguments)

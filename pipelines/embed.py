"""From merged counts to vectors: the last stage of a build, and all of `bitcipher embed`."""

from collections.abc import Iterator
from dataclasses import asdict, replace
from typing import Any

from bitcipher import storage
from bitcipher.counts import MergedCounts, Window
from bitcipher.embedding import Refinement
from bitcipher.vectors import CipherVectors
from pipelines import folder
from pipelines.options import BuildOptions, EmbeddingOptions
from pipelines.reduce import open_merged
from pipelines.runtime import Row, Runtime, StageSpec


class EmbedStage:
    """Makes vectors of a build's counts.

    Args:
        build: the folder of the build.
        radius, summed: the window that was counted, see `Window`.
        embedding: the values of `EmbeddingOptions`.
        provenance: what to write down with the vectors about the counts.
    """

    def __init__(self, build: str, radius: int, summed: bool, embedding: dict[str, Any], provenance: dict[str, Any]):
        self._build = build
        self._window = Window(radius, summed)
        self._options = EmbeddingOptions(**embedding)
        self._provenance = provenance

    def __call__(self, row: Row) -> Iterator[Row]:
        """From the target's name to the sizes of the vectors that were saved there."""
        counts = open_merged(self._build, self._window)
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


def embed_build(build: str, target: str, chosen: dict[str, Any], runtime: Runtime) -> Row:
    """Make other vectors of a build's kept counts.

    Args:
        build: the folder of the build.
        target: the folder of the new vectors.
        chosen: values of `EmbeddingOptions`; what is left out is as in the build.
        runtime: where to run.

    Returns:
        The words, dimensions, and words without a vector.
    """
    build, target = storage.absolute(build), storage.absolute(target)
    manifest = folder.read_manifest(build)
    folder.check_free(target)
    built = BuildOptions.from_dict(manifest["options"], build)
    options = replace(built.embedding, **chosen)
    (sizes,) = runtime.stream([embed_stage(build, built.window, options, manifest)], [{"target": target}])
    return sizes


def embed_stage(build: str, window: Window, options: EmbeddingOptions, manifest: dict[str, Any]) -> StageSpec:
    """The stage that makes vectors of a build's counts.

    Args:
        build: the folder of the build.
        window: what was counted.
        options: the vectors that are wanted.
        manifest: that of the build, of which the vectors keep what tells where they come from.
    """
    arguments = {
        "build": build,
        "radius": window.radius,
        "summed": window.summed,
        "embedding": asdict(options),
        "provenance": {name: manifest[name] for name in ("bitcipher", "options", "tokens", "sha256")},
    }
    return StageSpec("embed", EmbedStage, arguments)

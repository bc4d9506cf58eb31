"""The vectors that the tables compare, and how each is made of a build's kept counts."""

from dataclasses import asdict, dataclass

import numpy as np

from bitcipher.errors import BitcipherError
from bitcipher.vectors import CipherVectors
from bitcipher.versions import VECTORS
from pipelines.embed.embed_counts import embed
from pipelines.merge.merged_counts import open_merged, read_vocabulary
from pipelines.options import BuildOptions, EmbeddingOptions
from pipelines.store import layout
from pipelines.store.manifest import BuildManifest, read_manifest
from training.probes.paper import PaperGrid

# The farthest context word in any column of the paper's tables.
PAPER_WINDOW = 4

RANDOM = "random"
RANDOM_DIMENSIONS = 200
RANDOM_SEED = 0


@dataclass(frozen=True)
class VectorModel:
    """One kind of vectors; two kinds with the same fields are the same vectors."""

    mode: str
    """cat, sum, cipher, or random; or another mode, of vectors that the build came with."""
    bits: int | None = None
    window: int | None = None


@dataclass(frozen=True)
class CountedBuild:
    """A version of a build whose counts are kept."""

    uri: str
    manifest: BuildManifest
    options: BuildOptions

    @classmethod
    def open(cls, uri: str) -> "CountedBuild":
        """The newest version of a build.

        Raises:
            BitcipherError: if it is not a build, or did not count what the paper's tables take.
        """
        manifest = read_manifest(uri)
        options = manifest.options
        if options.summed or options.context_window.size < PAPER_WINDOW:
            raise BitcipherError(
                f"The paper's tables take counts with a window of {PAPER_WINDOW} and separate offsets; {uri} has "
                f"{options.context_window.size}{' (summed)' if options.summed else ''}: build with --window 4."
            )
        return cls(uri, manifest, options)

    @property
    def tokens(self) -> int:
        """How many were counted."""
        return self.manifest.tokens

    @property
    def digests(self) -> dict[str, str]:
        """What the vectors depend on: words and counts."""
        return {name: getattr(self.manifest.digests, name) for name in ("words", "counts")}

    def extra_models(self) -> list[VectorModel]:
        """What stands beside the paper's own: random vectors, and the build's own ones if they are of another mode."""
        own = self.options.embedding
        known = own.mode in ("cat", "sum", "cipher")
        return [VectorModel(RANDOM)] + ([] if known else [VectorModel(own.mode, own.bits, own.window)])

    def embedding(self, model: VectorModel) -> EmbeddingOptions | None:
        """How the vectors of a model are made, or None for random ones."""
        if model.mode == RANDOM:
            return None
        if model in self.extra_models():
            return self.options.embedding
        return EmbeddingOptions(**{name: value for name, value in asdict(model).items() if value is not None})

    def vectors(self, model: VectorModel) -> CipherVectors:
        """The vectors of a model."""
        vocabulary = read_vocabulary(self.manifest.file(self.uri, layout.WORDS))
        options = self.embedding(model)
        if options is None:
            rows = np.random.default_rng(RANDOM_SEED).normal(size=(len(vocabulary.words), RANDOM_DIMENSIONS))
            return CipherVectors(vocabulary.words, rows / np.linalg.norm(rows, axis=1, keepdims=True))
        if options == self.options.embedding:
            return CipherVectors.load(self.manifest.file(self.uri, VECTORS))
        segments = self.manifest.part_uris(self.uri)
        return embed(open_merged(vocabulary, self.options.context_window, segments), options, {})


def grid_models(grid: PaperGrid) -> list[VectorModel]:
    """The columns of one of the paper's tables; without context the radius has no meaning."""
    return [VectorModel(grid.mode, bits, None if grid.mode == "cipher" else window) for bits, window in grid.columns]

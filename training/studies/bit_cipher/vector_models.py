"""Vectors whose scores the tables show: computed from the stored counts of a build, or read from a file."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from pydantic import Field

from bitcipher.errors import BitcipherError
from bitcipher.files.records import Record
from bitcipher.redaction import redact
from bitcipher.vectors.cipher_vectors import CipherVectors
from pipelines.embed.embed_counts import embed
from pipelines.embed.stored_counts import StoredCounts
from pipelines.options import BuildOptions, EmbeddingOptions, is_option_of
from pipelines.store.manifest import BuildManifest, read_manifest
from training.studies.bit_cipher.paper_tables import PaperGrid

# Largest window in any column of Tables 2 to 7 of Zhao & Williams (2023).
PAPER_WINDOW = 4

RANDOM = "random"
RANDOM_DIMENSIONS = 200
RANDOM_SEED = 0

FILE = "file"


class VectorModel(Record):
    """Specification of vectors. Equal specifications give equal vectors."""

    mode: str
    """cat, sum, cipher, random, or file for the vectors of a file. Another mode, such as spectral, means the vectors
    that the build contains."""
    bits: int | None = Field(None, ge=1)
    """Number of bits; None for random vectors and those of a file."""
    window: int | None = Field(None, ge=1)
    """Maximum offset of a context word; None for modes cipher, random and file, which use no context of the build."""


@dataclass(frozen=True)
class CountedBuild:
    """Version of a build with its stored counts."""

    uri: str
    manifest: BuildManifest
    options: BuildOptions
    cipher_options: Mapping[str, str] = field(default_factory=dict)
    """Options of modes cat, sum and cipher that differ from the default: noise, noise_over and log."""

    @classmethod
    def open(cls, uri: str, cipher_options: Mapping[str, str] | None = None) -> "CountedBuild":
        """Open the newest version of a build.

        Args:
            uri: path or URI of the build.
            cipher_options: see `CountedBuild`.

        Raises:
            BitcipherError: if the URI is not a build, its window is too small, or its counts are summed over offsets.
        """
        manifest = read_manifest(uri)
        options = manifest.options
        if options.summed or options.context_window.size < PAPER_WINDOW:
            raise BitcipherError(
                f"The paper's tables need counts per offset with a window of at least {PAPER_WINDOW}, but {uri} has "
                f"window {options.context_window.size}{', summed over offsets' if options.summed else ''}; "
                "build with --window 4."
            )
        return cls(uri, manifest, options, cipher_options or {})

    @property
    def tokens(self) -> int:
        """Number of counted tokens."""
        return self.manifest.tokens

    @property
    def digests(self) -> dict[str, str]:
        """Digests of the words and counts that the vectors are computed from."""
        return {name: getattr(self.manifest.digests, name) for name in ("words", "counts")}

    def digests_of(self, model: VectorModel) -> dict[str, str]:
        """Return the digests of what the vectors of a model are computed from, or of the vectors that are stored.

        Stored vectors can have the axes of an earlier version, which the counts do not determine.
        """
        stored = self.manifest.digests.vectors if self._has_stored(self.embedding(model)) else None
        return self.digests if stored is None else self.digests | {"vectors": stored}

    def _has_stored(self, options: EmbeddingOptions | None) -> bool:
        return options == self.options.embedding and self.manifest.has_own_vectors

    def extra_models(self) -> list[VectorModel]:
        """Return the models that the paper lacks: random vectors, and the build's own vectors if their mode is new."""
        own = self.options.embedding
        is_paper_mode = own.mode in ("cat", "sum", "cipher")
        own_models = [] if is_paper_mode else [VectorModel(mode=own.mode, bits=own.bits, window=own.window)]
        return [VectorModel(mode=RANDOM), *own_models]

    def embedding(self, model: VectorModel) -> EmbeddingOptions | None:
        """Return the options of a model's vectors, or None for random vectors."""
        if model.mode == RANDOM:
            return None
        if model in self.extra_models():
            return self.options.embedding
        options = EmbeddingOptions(**{name: value for name, value in model.to_dict().items() if value is not None})
        changes = {name: value for name, value in self.cipher_options.items() if is_option_of(name, options.mode)}
        return options.derive(changes)

    def vectors(self, model: VectorModel) -> CipherVectors:
        """Return the vectors of a model."""
        vocabulary = self.manifest.vocabulary_file(self.uri).read()
        options = self.embedding(model)
        if options is None:
            rows = np.random.default_rng(RANDOM_SEED).normal(size=(len(vocabulary.words), RANDOM_DIMENSIONS))
            return CipherVectors(vocabulary.words, rows / np.linalg.norm(rows, axis=1, keepdims=True))
        if self._has_stored(options):
            return CipherVectors.load(self.manifest.vectors_folder(self.uri), verify=True)
        counts = StoredCounts.of_version(self.uri, self.manifest).open()
        return embed(counts, options, {})


@dataclass(frozen=True)
class PeerVectors:
    """Vectors of another tool, for Table 1."""

    uri: str
    loaded: CipherVectors

    @classmethod
    def open(cls, uri: str) -> "PeerVectors":
        """Read vectors of any format.

        Raises:
            BitcipherError: if the file is missing or damaged.
        """
        return cls(uri, CipherVectors.load(uri, verify=True))

    @property
    def title(self) -> str:
        """Path or URI without passwords, as in the table of `bitcipher evaluate`."""
        return redact(self.uri)

    @property
    def digests(self) -> dict[str, str]:
        """Digest of the words and vectors."""
        digest = hashlib.sha256("\n".join(self.loaded.index_to_key).encode())
        digest.update(np.ascontiguousarray(self.loaded.vectors).tobytes())
        return {"vectors": digest.hexdigest()}

    def digests_of(self, model: VectorModel) -> dict[str, str]:
        """Return `digests`, because a file has one model."""
        return self.digests

    def embedding(self, model: VectorModel) -> None:
        """Return None, because the options of another tool are unknown."""

    def vectors(self, model: VectorModel) -> CipherVectors:
        """Return the vectors."""
        return self.loaded


def grid_models(grid: PaperGrid) -> list[VectorModel]:
    """Return the model of each column of a table. Mode cipher uses no context, so it has no window."""
    return [
        VectorModel(mode=grid.mode, bits=bits, window=None if grid.mode == "cipher" else window)
        for bits, window in grid.columns
    ]

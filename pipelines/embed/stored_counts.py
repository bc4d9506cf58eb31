"""Stored counts of a version."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from bitcipher import __version__
from bitcipher.counts.context_window import ContextWindow
from bitcipher.counts.merged_counts import MergedCounts
from bitcipher.counts.merged_segments import open_merged
from bitcipher.counts.vocabulary_file import VocabularyFile
from bitcipher.files import storage
from bitcipher.versions import WORDS
from pipelines.options import BuildOptions
from pipelines.store.manifest import BuildManifest, CountDigests
from pipelines.store.segments import Segment
from pipelines.store.stored_versions import StoredVersion


@dataclass(frozen=True)
class StoredCounts:
    """Stored counts of a version, with the provenance that is saved with vectors made from them."""

    vocabulary: VocabularyFile
    """File of the vocabulary."""
    segments: list[list[str]]
    """URIs of the parts of each segment."""
    context_window: ContextWindow
    """Window of the counts."""
    entries: int
    """Number of pairs in all segments."""
    types: int
    """Number of words in all segments."""
    provenance: dict[str, Any]
    """Fields for the manifest of the vectors."""

    @classmethod
    def of_version(cls, build: str, manifest: BuildManifest) -> "StoredCounts":
        """Return the counts of a published version of a build.

        Raises:
            BitcipherError: if the table of segments is missing or damaged.
        """
        uri, segments = manifest.file(build, WORDS), StoredVersion(build, manifest).segments
        return cls.of_segments(build, uri, segments, manifest.options, manifest.digests, manifest.bitcipher)

    @classmethod
    def of_segments(
        cls,
        build: str,
        vocabulary: str,
        segments: Sequence[Segment],
        options: BuildOptions,
        digests: CountDigests,
        bitcipher: str = __version__,
    ) -> "StoredCounts":
        """Return the sum of segments.

        Args:
            build: folder of the build.
            vocabulary: URI of the vocabulary file.
            segments: segments whose sum is the counts.
            options: options of the build.
            digests: digests of the vocabulary and the counts.
            bitcipher: version of bitcipher that made the counts.
        """
        return cls(
            vocabulary=VocabularyFile(vocabulary, digests.words),
            segments=[[storage.join(build, part) for part in segment.parts] for segment in segments],
            context_window=options.context_window,
            entries=sum(segment.entries for segment in segments),
            types=sum(segment.types for segment in segments),
            provenance={
                "bitcipher": bitcipher,
                "options": options.redacted().to_dict(),
                "tokens": sum(segment.tokens for segment in segments),
                "digests": {"words": digests.words, "counts": digests.counts},
            },
        )

    def open(self, threads: int = 1) -> MergedCounts:
        """Return the merged counts.

        Args:
            threads: number of threads that read and add up rows.
        """
        return open_merged(self.vocabulary.read(), self.context_window, self.segments, threads)

"""Functions that open the stored counts of a build."""

from pipelines.embed.stored_counts import StoredCounts
from pipelines.store.manifest import read_manifest


def segments_of(build):
    """Return the URI of the vocabulary, and the URIs of the parts of each segment."""
    counts = StoredCounts.of_version(str(build), read_manifest(str(build)))
    return counts.vocabulary, counts.segments


def open_counts(build):
    """Return the merged counts of a build."""
    return StoredCounts.of_version(str(build), read_manifest(str(build))).open()

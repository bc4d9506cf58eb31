"""The kept counts of a build."""

from pipelines.embed.stored_counts import StoredCounts
from pipelines.store.manifest import read_manifest


def segments_of(build):
    """The file of the vocabulary, and the parts of each segment."""
    counts = StoredCounts.of_version(str(build), read_manifest(str(build)))
    return counts.vocabulary, counts.segments


def opened(build):
    """As one, in this process."""
    return StoredCounts.of_version(str(build), read_manifest(str(build))).open()

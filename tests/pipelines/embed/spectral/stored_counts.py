"""The kept counts of a build."""

from pipelines.embed.embed_counts import StoredCounts
from pipelines.store import layout


def segments_of(build):
    """The file of the vocabulary, and the parts of each segment."""
    counts = StoredCounts.of(str(build), layout.read_manifest(str(build)))
    return counts.vocabulary, counts.segments


def opened(build):
    """As one, in this process."""
    return StoredCounts.of(str(build), layout.read_manifest(str(build))).open()

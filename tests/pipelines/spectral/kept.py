"""The kept counts of a build."""

from pipelines import folder
from pipelines.embed import KeptCounts


def segments_of(build):
    """The file of the vocabulary, and the parts of each segment."""
    counts = KeptCounts.of(str(build), folder.read_manifest(str(build)))
    return counts.vocabulary, counts.segments


def opened(build):
    """As one, in this process."""
    return KeptCounts.of(str(build), folder.read_manifest(str(build))).open()

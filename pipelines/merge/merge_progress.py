"""Progress of merges."""

from pipelines.merge.merge_records import MergedRange
from pipelines.runtime.runtime import StageResult


class MergeProgress:
    """What merges call as they progress. This class ignores it."""

    def on_words(self, share: float) -> None:
        """Note that a share of the first part is done, in which words are added up and numbered."""

    def on_ranges(self, ranges: int) -> None:
        """Note that the first part is done, and that the second part begins, which merges ranges of rows."""

    def on_range(self, result: StageResult[MergedRange]) -> None:
        """Note that a range is merged."""

"""Progress bars of merges."""

from pipelines.merge.merge_progress import MergeProgress
from pipelines.merge.merge_records import MergedRange
from pipelines.runtime.events import log_event
from pipelines.runtime.progress import StageProgress
from pipelines.runtime.runtime import StageResult


class MergeBars(MergeProgress):
    """A bar for each part of the merges, and an event for each range.

    Args:
        progress: progress bars of the command.
    """

    def __init__(self, progress: StageProgress):
        self._progress = progress
        self._words = progress.begin("order", 1)
        self._ranges = self._words

    def on_words(self, share: float) -> None:
        """Advance the bar of the first part."""
        self._progress.advance(self._words, share, "words")

    def on_ranges(self, ranges: int) -> None:
        """Fill the first bar, and begin the second one."""
        self._progress.end(self._words)
        self._ranges = self._progress.begin("merge", ranges)

    def on_range(self, result: StageResult[MergedRange]) -> None:
        """Advance the bar of ranges."""
        merged = result.value
        self._progress.advance(self._ranges, 1, f"{merged.entries:,} pairs", was_done=merged.was_done)
        log_event(
            "merged",
            segment=merged.merge,
            part=merged.part,
            entries=merged.entries,
            cost=result.cost.to_dict(),
        )

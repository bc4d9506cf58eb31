"""Progress on a terminal; silence anywhere else."""

import sys

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeElapsedColumn, TimeRemainingColumn


class StageProgress:
    """A bar for each stage of a build, on stderr, if that is a terminal."""

    def __init__(self) -> None:
        self._console = Console(stderr=True)
        self._bars = Progress(
            TextColumn("{task.description:<10}"),
            BarColumn(),
            TextColumn("{task.percentage:>3.0f} %"),
            TimeElapsedColumn(),
            TextColumn("left"),
            TimeRemainingColumn(),
            TextColumn("{task.fields[note]}"),
            console=self._console,
            disable=not sys.stderr.isatty(),
        )

    def __enter__(self) -> "StageProgress":
        self._bars.start()
        return self

    def __exit__(self, *exception: object) -> None:
        self._bars.stop()

    def begin(self, name: str, total: float) -> TaskID:
        """A new bar."""
        return self._bars.add_task(name, total=total, note="")

    def advance(self, bar: TaskID, done: float, note: str) -> None:
        """Move a bar on; the note stands behind it."""
        self._bars.update(bar, advance=done, note=note)

    def end(self, bar: TaskID) -> None:
        """Fill a bar, whatever was estimated."""
        task = next(task for task in self._bars.tasks if task.id == bar)
        self._bars.update(bar, completed=task.total)

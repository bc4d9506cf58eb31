"""Progress bars."""

import sys

from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeRemainingColumn

from pipelines.runtime.visible_console import VisibleConsole


class StageProgress:
    """One progress bar per stage, on stderr; silent if stderr is not a terminal."""

    def __init__(self) -> None:
        self._console = VisibleConsole(stderr=True)
        self._bars = Progress(
            # Narrow columns, so that the longest note fits a terminal of 80 columns.
            TextColumn("{task.description:<6}"),
            BarColumn(bar_width=8),
            TextColumn("{task.percentage:>3.0f} %"),
            TimeRemainingColumn(compact=True),
            TextColumn("left  {task.fields[note]}"),
            console=self._console,
            disable=not sys.stderr.isatty(),
        )

    def __enter__(self) -> "StageProgress":
        self._bars.start()
        return self

    def __exit__(self, *exception: object) -> None:
        self._bars.stop()

    def say(self, sentence: str) -> None:
        """Print a sentence above the bars, on stderr."""
        self._console.print(sentence, markup=False, highlight=False, soft_wrap=True)

    def begin(self, name: str, total: float) -> TaskID:
        """Add a bar. `total` is the amount of work, in any unit."""
        return self._bars.add_task(name, total=total, note="")

    def advance(self, bar: TaskID, done: float, note: str) -> None:
        """Advance a bar by `done`, and show a note next to it."""
        self._bars.update(bar, advance=done, note=note)

    def end(self, bar: TaskID) -> None:
        """Fill a bar, even if its total was overestimated."""
        task = next(task for task in self._bars.tasks if task.id == bar)
        self._bars.update(bar, completed=task.total)

"""Progress of stages, on stderr: bars on a terminal, lines elsewhere."""

import sys
import time
from datetime import timedelta

from rich.progress import BarColumn, Progress, ProgressColumn, Task, TaskID, TextColumn
from rich.text import Text

from bitcipher.terminal import print_text
from pipelines.runtime.events import log_event, logs_json
from pipelines.runtime.verbosity import Verbosity, current_verbosity
from pipelines.runtime.visible_console import VisibleConsole

# Minimum time between two lines of progress. A command that takes less time writes none.
LINE_SECONDS = 10


class StageProgress:
    """One progress bar per stage if stderr is a terminal, and a line every ten seconds if not; silent with `--quiet`.

    If the environment variable BITCIPHER_LOG is `json`, a line is an event `progress`.
    """

    def __init__(self) -> None:
        self._is_quiet = current_verbosity() is Verbosity.QUIET
        self._has_bars = sys.stderr.isatty() and not self._is_quiet and not logs_json()
        self._console = VisibleConsole(stderr=True)
        self._bars = Progress(
            # Narrow columns, so that the longest note fits a terminal of 80 columns.
            TextColumn("{task.description:<6}"),
            BarColumn(bar_width=8),
            TextColumn("{task.percentage:>3.0f} %"),
            _TimeLeft(),
            TextColumn("left  {task.fields[note]}"),
            console=self._console,
            disable=not self._has_bars,
        )
        self._last_line = time.monotonic()

    def __enter__(self) -> "StageProgress":
        self._bars.start()
        return self

    def __exit__(self, *exception: object) -> None:
        self._bars.stop()

    def say(self, sentence: str) -> None:
        """Print a sentence above the bars, on stderr."""
        if not self._is_quiet:
            self._console.print(sentence, markup=False, highlight=False, soft_wrap=True)

    def begin(self, name: str, total: float, done: int = 0) -> TaskID:
        """Add a bar. `total` is the amount of work, in any unit, of which `done` was done by an earlier command."""
        return self._bars.add_task(name, total=total, completed=done, note="", done_before=done)

    def advance(self, bar: TaskID, done: float, note: str, *, was_done: bool = False) -> None:
        """Advance a bar by `done`, and show a note next to it.

        If `was_done`, an earlier command did this work, so it does not count for the time left.
        """
        task = self._bars.tasks[self._bars.task_ids.index(bar)]
        done_before = task.fields["done_before"] + (done if was_done else 0)
        self._bars.update(bar, advance=done, note=note, done_before=done_before)
        if not self._has_bars and not self._is_quiet and time.monotonic() - self._last_line >= LINE_SECONDS:
            self._last_line = time.monotonic()
            _print_line(task)

    def end(self, bar: TaskID) -> None:
        """Fill a bar, even if its total was overestimated."""
        task = next(task for task in self._bars.tasks if task.id == bar)
        self._bars.update(bar, completed=task.total)


class _TimeLeft(ProgressColumn):
    """Time that the rest of a stage takes."""

    def render(self, task: Task) -> Text:
        return Text((_time_left(task) or "--:--").removeprefix("0:"), style="progress.remaining")


def _time_left(task: Task) -> str | None:
    """Return the time that the rest takes at the mean speed so far, or None if nothing is done yet.

    rich's estimate is the speed of the last half minute, in which items that take minutes end together, or none does.
    """
    done = task.completed - task.fields["done_before"]
    if done <= 0 or not task.elapsed or task.remaining is None:
        return None
    return str(timedelta(seconds=int(task.elapsed * task.remaining / done)))


def _print_line(task: Task) -> None:
    note = task.fields["note"]
    if logs_json():
        log_event("progress", stage=task.description, percent=round(task.percentage, 1), note=note)
        return
    left = "" if task.finished else _time_left(task)
    parts = [f"{task.percentage:.0f} %", f"{left} left" if left else "", note]
    print_text(f"{task.description}: {', '.join(filter(None, parts))}", err=True)

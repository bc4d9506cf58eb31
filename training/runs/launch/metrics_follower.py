"""Progress of training runs, from the metrics that their workers write."""

import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from bitcipher.files import storage
from pipelines.runtime.progress import StageProgress
from training.loop.evaluation_progress import read_evaluated_fraction
from training.loop.metrics_tail import MetricsTail

POLL_SECONDS = 0.5
# In a store, the whole file is read each time.
STORE_POLL_SECONDS = 5.0
# Metrics in the note of the bar, and their formats.
_FORMS = {"loss": ".3f", "perplexity": ",.1f"}
# Key of the fraction of the current evaluation that is done, beside the metrics.
EVALUATED = "evaluated"


@contextmanager
def watch_metrics(folder: str, on_change: Callable[[Mapping[str, Any]], None]) -> Iterator[None]:
    """Call a function with the latest value of each metric of a run whenever there are new ones, in a `with` block.

    During a long evaluation, it is also called with the fraction of the evaluation that is done, as `EVALUATED`.

    Args:
        folder: path or URI of the run.
        on_change: called in another thread, and at the end of the block in this one.
    """
    ended = threading.Event()
    tail = MetricsTail(folder)
    interval = STORE_POLL_SECONDS if storage.local_path(folder) is None else POLL_SECONDS
    latest: dict[str, Any] = {}

    def update() -> None:
        lines = tail.read()
        for line in lines:
            latest.update(line)
        before = latest.pop(EVALUATED, None)
        evaluated = read_evaluated_fraction(folder)
        if evaluated is not None:
            latest[EVALUATED] = evaluated
        if lines or evaluated != before:
            on_change(latest)

    def poll() -> None:
        while not ended.wait(interval):
            update()

    thread = threading.Thread(target=poll, daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()
        update()


@contextmanager
def follow_metrics(folder: str, max_steps: Callable[[], int], progress: StageProgress) -> Iterator[None]:
    """Show a progress bar that follows `metrics.jsonl` until the `with` block ends.

    Args:
        folder: path or URI of the run.
        max_steps: function that returns the number of steps of the run. It is called after the first metrics were
            written.
        progress: progress bars.
    """
    bar = None
    shown = 0

    def show(latest: Mapping[str, Any]) -> None:
        nonlocal bar, shown
        if not isinstance(step := latest.get("step"), int):
            return
        if bar is None:
            shown = step
            bar = progress.begin("train", max_steps(), done=shown)
        # The step can decrease, because a run that resumes after a worker's death starts from an earlier checkpoint.
        notes = [f"{name} {latest[name]:{form}}" for name, form in _FORMS.items() if _is_number(latest.get(name))]
        if EVALUATED in latest:
            notes.append(f"evaluating {100 * latest[EVALUATED]:.0f} %")
        progress.advance(bar, step - shown, "  ".join(notes))
        shown = step
        if latest.get("stopped_early"):
            progress.end(bar)

    with watch_metrics(folder, show):
        yield


def _is_number(value: object) -> bool:
    return isinstance(value, int | float)

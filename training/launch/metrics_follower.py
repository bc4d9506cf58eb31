"""Progress bar of a training run, from the metrics that its workers write."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from pipelines.runtime.progress import StageProgress
from training.loop import read_metrics

POLL_SECONDS = 0.5


@contextmanager
def follow_metrics(folder: Path, max_steps: Callable[[], int], progress: StageProgress) -> Iterator[None]:
    """Show a progress bar that follows `metrics.jsonl` until the `with` block ends.

    Args:
        folder: folder of the run.
        max_steps: function that returns the number of steps of the run. It is called after the first metrics were
            written.
        progress: progress bars.
    """
    bar = None
    ended = threading.Event()
    shown = 0

    def update() -> None:
        nonlocal bar, shown
        lines = read_metrics(folder)
        if not lines:
            return
        if bar is None:
            bar = progress.begin("train", max_steps())
        step = lines[-1]["step"]
        losses = [line["loss"] for line in lines if "loss" in line]
        perplexities = [line["perplexity"] for line in lines if "perplexity" in line]
        note = f"loss {losses[-1]:.3f}" if losses else ""
        if perplexities:
            note += f"  perplexity {perplexities[-1]:,.1f}"
        # The step can decrease, because a run that resumes after a worker's death starts from an earlier checkpoint.
        progress.advance(bar, step - shown, note)
        shown = step

    def poll() -> None:
        while not ended.wait(POLL_SECONDS):
            update()

    thread = threading.Thread(target=poll, daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()
        update()

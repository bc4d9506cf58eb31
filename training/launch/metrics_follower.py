"""Shows how far a training run is, from the lines that its workers write, wherever they are."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from pipelines.runtime.progress import StageProgress
from training.loop import read_metrics

LOOK_SECONDS = 0.5


@contextmanager
def following(folder: Path, steps: Callable[[], int], progress: StageProgress) -> Iterator[None]:
    """A bar that moves with the lines of `metrics.jsonl` until the block ends.

    Args:
        folder: of the run.
        steps: tells how many the whole run has, once there are lines.
        progress: where to show it.
    """
    bar = None
    ended = threading.Event()
    shown = 0

    def look() -> None:
        nonlocal bar, shown
        lines = read_metrics(folder)
        if not lines:
            return
        if bar is None:
            bar = progress.begin("train", steps())
        step = lines[-1]["step"]
        losses = [line["loss"] for line in lines if "loss" in line]
        perplexities = [line["perplexity"] for line in lines if "perplexity" in line]
        note = f"loss {losses[-1]:.3f}" if losses else ""
        if perplexities:
            note += f"  perplexity {perplexities[-1]:,.1f}"
        # A run that goes on after a worker's death may be a few steps back.
        progress.advance(bar, step - shown, note)
        shown = step

    def follow() -> None:
        while not ended.wait(LOOK_SECONDS):
            look()

    thread = threading.Thread(target=follow, daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()
        look()

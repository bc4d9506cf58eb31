"""TensorBoard: event files in the folder `tensorboard` of a run."""

from collections.abc import Mapping

from torch.utils.tensorboard import SummaryWriter

from bitcipher.files import object_store
from training.loop.trackers.base import TrackedRun


class TensorBoardTracker:
    """Writer of event files. TensorBoard hides the values that an interrupted job wrote after the step of the run."""

    def __init__(self, run: TrackedRun):
        folder = str(run.folder / "tensorboard")
        with object_store.translating_errors("write", folder, is_local=True):
            self._writer = SummaryWriter(folder, purge_step=run.step + 1 if run.step else None)

    def write(self, step: int, metrics: Mapping[str, float]) -> None:
        """Write an event for each number."""
        for name, value in metrics.items():
            self._writer.add_scalar(name, value, step)

    def flush(self) -> None:
        """Write everything to the files."""
        self._writer.flush()

    def close(self, *, is_complete: bool) -> None:
        """Close the files."""
        self._writer.close()

"""Trackers by name. A run does not end because one of them fails."""

import warnings
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from importlib.util import find_spec

from bitcipher.errors import BitcipherError, first_line
from bitcipher.installation import install_command
from bitcipher.redaction import redact
from training.loop.options import TrackerName
from training.loop.trackers.base import TrackedRun, Tracker

_CLASSES: dict[TrackerName, tuple[str, str]] = {
    "tensorboard": ("tensorboard_tracker", "TensorBoardTracker"),
    "wandb": ("wandb_tracker", "WandbTracker"),
    "mlflow": ("mlflow_tracker", "MlflowTracker"),
}


def check_trackers(names: Sequence[TrackerName]) -> None:
    """Check that the libraries of trackers are installed.

    Raises:
        BitcipherError: if one is missing.
    """
    for name in names:
        spec = find_spec(name)
        if spec is None or spec.origin is None:  # without an origin, it is a folder of this name
            raise BitcipherError(f"`loop.report_to` {name} needs the package {name}: {install_command(name)}.")


def open_trackers(names: Sequence[TrackerName], run: TrackedRun) -> list[Tracker]:
    """Return the trackers of a run. TensorBoard's files are files of the run, so only the other trackers may fail."""
    return [_open(name, run) if name == "tensorboard" else _TolerantTracker(name, run) for name in dict.fromkeys(names)]


def _open(name: TrackerName, run: TrackedRun) -> Tracker:
    module, class_name = _CLASSES[name]
    return getattr(import_module(f"training.loop.trackers.{module}"), class_name)(run)


class _TolerantTracker:
    """Tracker that is given up at its first error, with a warning.

    Args:
        name: its name.
        run: the run.
    """

    def __init__(self, name: TrackerName, run: TrackedRun):
        self._name = name
        self._tracker: Tracker | None = None
        self._attempt(lambda: setattr(self, "_tracker", _open(name, run)))

    def write(self, step: int, metrics: Mapping[str, float]) -> None:
        if tracker := self._tracker:
            self._attempt(lambda: tracker.write(step, metrics))

    def flush(self) -> None:
        if tracker := self._tracker:
            self._attempt(tracker.flush)

    def close(self, *, is_complete: bool) -> None:
        if tracker := self._tracker:
            self._attempt(lambda: tracker.close(is_complete=is_complete))

    def _attempt(self, action: Callable[[], None]) -> None:
        try:
            action()
        except Exception as error:
            self._tracker = None
            warnings.warn(
                f"The metrics are not reported to {self._name} any more ({redact(first_line(error))}). The run goes "
                "on, and metrics.jsonl has all metrics; a run that is resumed reports them again.",
                stacklevel=4,
            )

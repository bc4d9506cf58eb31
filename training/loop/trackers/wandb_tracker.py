"""Weights & Biases: offline in the folder `wandb` of a run, unless WANDB_MODE is online.

The library reads its other settings from variables of the environment, too, such as WANDB_API_KEY and WANDB_ENTITY.
"""

import os
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from bitcipher.files import storage
from training.loop.trackers.base import TrackedRun


class WandbTracker:
    """Run of Weights & Biases that holds the metrics, and the versions of libraries that the library itself adds.

    A run that is resumed online goes on in the same run of the server, which ignores steps that it has. Offline, the
    library cannot append, so the folder is written anew with all metrics so far.
    """

    def __init__(self, run: TrackedRun):
        # The library reports its errors to the company, even offline, unless this is set before it is imported.
        os.environ.setdefault("WANDB_ERROR_REPORTING", "false")
        import wandb  # pyright: ignore[reportMissingImports]

        mode: Any = os.environ.get("WANDB_MODE", "offline")  # checked by the library
        self._is_offline = mode == "offline"
        if self._is_offline:
            storage.remove(storage.join(run.uri, "wandb"))
        self._run = wandb.init(
            project=os.environ.get("WANDB_PROJECT", "bitcipher"),
            name=os.environ.get("WANDB_NAME", run.name),
            id=run.read_ids().wandb,
            resume=None if self._is_offline else "allow",
            dir=str(run.folder),
            mode=mode,
            reinit="create_new",  # a run that the caller has begun goes on
            settings=wandb.Settings(
                console="off",
                disable_code=True,
                disable_git=True,
                disable_job_creation=True,
                host="",
                save_code=False,
                silent=True,
                symlink=False,
                x_disable_machine_info=True,
                x_disable_meta=True,
                x_disable_stats=True,
                x_save_requirements=False,
            ),
        )
        run.write_ids(wandb=self._run.id)
        for step, metrics in run.logged_metrics():
            self.write(step, metrics)

    def write(self, step: int, metrics: Mapping[str, float]) -> None:
        """Report the numbers of a line; the library sends or stores them in the background."""
        self._run.log(dict(metrics), step=step)

    def flush(self) -> None:
        """Do nothing, because another process writes the file."""

    def close(self, *, is_complete: bool) -> None:
        """Wait until everything is written or sent, and end the run."""
        self._run.finish(exit_code=0 if is_complete else 1)
        if self._is_offline:
            _wait_until_unchanged(Path(self._run.settings.sync_file))


def _wait_until_unchanged(path: Path) -> None:
    """Wait until a file has not changed for half a second, at most ten seconds.

    The library ends a run before its process has written the end of the file. If the run is in a store, the file is
    uploaded next.
    """
    unchanged, before = 0, -1
    for _ in range(100):
        size = path.stat().st_size
        unchanged = unchanged + 1 if size == before else 0
        if unchanged == 5:
            return
        before = size
        time.sleep(0.1)

"""MLflow: a SQLite database in the folder `mlflow` of a run, unless MLFLOW_TRACKING_URI names another store.

The library reads its other settings from variables of the environment, too, such as MLFLOW_TRACKING_TOKEN.
"""

import os
import posixpath
import re
import time
from collections.abc import Mapping

from training.loop.trackers.base import TrackedRun

# Characters that MLflow refuses in names of metrics.
_REFUSED = re.compile(r"[^\w/.\- ]")


class MlflowTracker:
    """Run of MLflow that holds the metrics only.

    A run that is resumed goes on in the same run of MLflow, if the store has it, and adds the metrics that are missing.
    """

    def __init__(self, run: TrackedRun):
        # Read when the library is imported: reports of its use to the company, and notes on its tables.
        os.environ.setdefault("MLFLOW_DISABLE_TELEMETRY", "true")
        os.environ.setdefault("MLFLOW_LOGGING_LEVEL", "WARNING")
        from mlflow import MlflowClient  # pyright: ignore[reportMissingImports]

        self._client = MlflowClient(os.environ.get("MLFLOW_TRACKING_URI") or _local_store(run))
        self._id = self._resume(run.read_ids().mlflow) or self._create(run)
        # Each line has one of these metrics. A killed job can have reported one of two lines of a step.
        self._logged = {name: self._logged_steps(name) for name in ("loss", "validation_loss")}
        for step, metrics in run.logged_metrics():
            self.write(step, metrics)

    def write(self, step: int, metrics: Mapping[str, float]) -> None:
        """Report the numbers of a line in one request, unless an interrupted job has reported them."""
        if any(step in steps for name, steps in self._logged.items() if name in metrics):
            return
        from mlflow.entities import Metric  # pyright: ignore[reportMissingImports]

        now = int(time.time() * 1000)
        values = [Metric(_metric_name(name), float(value), now, step) for name, value in metrics.items()]
        self._client.log_batch(self._id, metrics=values)

    def flush(self) -> None:
        """Do nothing, because each line is stored at once."""

    def close(self, *, is_complete: bool) -> None:
        """Set the status of the run."""
        self._client.set_terminated(self._id, "FINISHED" if is_complete else "KILLED")

    def _resume(self, run_id: str | None) -> str | None:
        """Return the id if the store has the run, which is then marked as running."""
        if run_id is None:
            return None
        from mlflow.exceptions import MlflowException  # pyright: ignore[reportMissingImports]

        try:
            self._client.get_run(run_id)
        except MlflowException as error:
            if error.error_code == "RESOURCE_DOES_NOT_EXIST":
                return None
            raise
        self._client.update_run(run_id, status="RUNNING")
        return run_id

    def _create(self, run: TrackedRun) -> str:
        name = os.environ.get("MLFLOW_EXPERIMENT_NAME", "bitcipher")
        experiment = self._client.get_experiment_by_name(name)
        experiment_id = experiment.experiment_id if experiment else self._client.create_experiment(name)
        run_id = self._client.create_run(experiment_id, run_name=run.name).info.run_id
        run.write_ids(mlflow=run_id)
        return run_id

    def _logged_steps(self, name: str) -> set[int]:
        return {metric.step for metric in self._client.get_metric_history(self._id, name)}


def _local_store(run: TrackedRun) -> str:
    folder = run.folder / "mlflow"
    folder.mkdir(exist_ok=True)
    return f"sqlite:///{folder}/mlflow.db"


def _metric_name(name: str) -> str:
    """Return the name of a metric as MLflow accepts it. Sources in names can be any paths."""
    return posixpath.normpath(_REFUSED.sub("_", name))

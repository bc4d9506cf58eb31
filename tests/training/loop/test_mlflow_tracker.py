"""Metrics of runs in MLflow: in a local database, after interruptions, and with a server that cannot be reached."""

import json

import pytest
from tiny_runs import Interruption, config_of, curve_of, interrupting_after

from bitcipher.files import storage
from training.runs.pretraining_run import run_pretraining

mlflow = pytest.importorskip("mlflow")

pytestmark = [pytest.mark.usefixtures("one_thread"), pytest.mark.long]  # MLflow takes seconds to make its tables

LOOP = {"loop": {"report_to": ["mlflow"], "max_steps": 8}}


@pytest.fixture(autouse=True)
def _environment(monkeypatch, tmp_path):
    for name in ("MLFLOW_TRACKING_URI", "MLFLOW_EXPERIMENT_NAME"):
        monkeypatch.delenv(name, raising=False)
    (tmp_path / "cwd").mkdir()
    monkeypatch.chdir(tmp_path / "cwd")


def tracked(folder):
    """Return the only run in the database of a folder, and its metrics as a sorted list of (name, step, value)."""
    client = mlflow.MlflowClient(f"sqlite:///{folder}/mlflow/mlflow.db")
    experiment = client.get_experiment_by_name("bitcipher")
    (run,) = client.search_runs([experiment.experiment_id])
    history = [each for name in run.data.metrics for each in client.get_metric_history(run.info.run_id, name)]
    return run, sorted((each.key, each.step, each.value) for each in history if each.key != "seconds")


def logged(folder):
    """Return the same of `metrics.jsonl`."""
    return sorted((name, line["step"], line[name]) for line in curve_of(folder) for name in line if name != "step")


def test_resumed_run_goes_on_in_the_same_run(tiny_text, tmp_path):
    folder = tmp_path / "run"
    config = config_of(folder, tiny_text, **LOOP)
    with pytest.raises(Interruption):
        run_pretraining(config, interrupting_after(6))
    first, _ = tracked(folder)
    assert (first.info.status, first.info.run_name) == ("KILLED", "run")
    run_pretraining(config)
    second, metrics = tracked(folder)
    assert (second.info.run_id, second.info.status) == (first.info.run_id, "FINISHED")
    assert metrics == logged(folder)
    assert second.data.params == {}
    assert set(second.data.tags) <= {"mlflow.runName", "mlflow.user"}
    assert json.loads((folder / "trackers.json").read_text())["mlflow"] == first.info.run_id
    assert list((tmp_path / "cwd").iterdir()) == []  # such as mlruns
    run_pretraining(config)
    assert tracked(folder)[0].info.end_time == second.info.end_time


def test_run_in_a_store_has_all_metrics(tiny_text, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    uri = f"memory://{tmp_path}/run"
    config = config_of(tmp_path / "run", tiny_text, **LOOP) | {"folder": uri}
    with pytest.raises(Interruption):
        run_pretraining(config, interrupting_after(6))
    run_pretraining(config)
    for name in ("mlflow/mlflow.db", "metrics.jsonl"):
        (tmp_path / "run" / name).parent.mkdir(exist_ok=True)
        (tmp_path / "run" / name).write_bytes(storage.read_bytes(f"{uri}/{name}"))
    run, metrics = tracked(tmp_path / "run")
    assert (run.info.status, metrics) == ("FINISHED", logged(tmp_path / "run"))
    storage.remove(uri)


def test_server_that_cannot_be_reached_is_given_up(tiny_text, tmp_path, monkeypatch):
    monkeypatch.setenv("MLFLOW_TRACKING_URI", "http://me:hunter2@127.0.0.1:9")
    monkeypatch.setenv("MLFLOW_HTTP_REQUEST_MAX_RETRIES", "0")
    with pytest.warns(UserWarning, match="not reported to mlflow any more") as warned:
        run_pretraining(config_of(tmp_path / "run", tiny_text, **LOOP))
    assert not any("hunter2" in str(each.message) for each in warned)
    assert curve_of(tmp_path / "run")[-1]["step"] == 8

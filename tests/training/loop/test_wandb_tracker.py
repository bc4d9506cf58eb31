"""Metrics of runs in Weights & Biases: offline, after interruptions, and without a key."""

import json
import re
import socket

import pytest
from tiny_runs import Interruption, config_of, curve_of, interrupting_after

from bitcipher.files import storage
from training.runs.pretraining_run import run_pretraining

wandb = pytest.importorskip("wandb")

pytestmark = [pytest.mark.usefixtures("one_thread"), pytest.mark.long]  # wandb takes seconds to start its process

LOOP = {"loop": {"report_to": ["wandb"], "max_steps": 8}}


@pytest.fixture(autouse=True)
def _environment(monkeypatch, tmp_path):
    for name in ("WANDB_MODE", "WANDB_API_KEY", "WANDB_PROJECT", "WANDB_NAME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))


def records_of(folder):
    """Return the records of the only offline run of a folder: a log of LevelDB after a header of 7 bytes."""
    from wandb.proto.wandb_internal_pb2 import Record

    (path,) = (folder / "wandb").glob("offline-run-*/*.wandb")
    content, position, parts, records = path.read_bytes(), 7, [], []
    while position + 7 <= len(content):
        left = 32768 - position % 32768  # in this block
        if left < 7:
            position += left
            continue
        size, kind = int.from_bytes(content[position + 4 : position + 6], "little"), content[position + 6]
        parts.append(content[position + 7 : position + 7 + size])
        position += 7 + size
        if kind in (1, 4):  # a whole record, or the last part of one
            records.append(Record.FromString(b"".join(parts)))
            parts = []
    return records


def tracked(folder):
    """Return the metrics of the run by name and step."""
    found = {}
    for record in records_of(folder):
        if record.WhichOneof("record_type") == "history":
            values = {
                "/".join(item.nested_key) or item.key: json.loads(item.value_json) for item in record.history.item
            }
            step = int(values.pop("_step"))
            found |= {(name, step): value for name, value in values.items() if not name.startswith("_")}
    return found


def logged(folder):
    """Return the same of `metrics.jsonl`."""
    lines = [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]
    return {(name, line["step"]): line[name] for line in lines for name in line if name != "step"}


def test_resumed_run_goes_on_in_the_same_run(tiny_text, tmp_path):
    folder = tmp_path / "run"
    config = config_of(folder, tiny_text, **LOOP)
    with pytest.raises(Interruption):
        run_pretraining(config, interrupting_after(6))
    first = json.loads((folder / "trackers.json").read_text())["wandb"]
    run_pretraining(config)
    assert json.loads((folder / "trackers.json").read_text())["wandb"] == first
    assert tracked(folder) == logged(folder)
    (run,) = (record.run for record in records_of(folder) if record.WhichOneof("record_type") == "run")
    assert (run.run_id, run.display_name, run.project) == (first, "run", "bitcipher")


def test_only_metrics_are_recorded(tiny_text, tmp_path, monkeypatch):
    folder, key = tmp_path / "run", "0123456789" * 4
    monkeypatch.setenv("WANDB_API_KEY", key)
    run_pretraining(config_of(folder, tiny_text, **LOOP))
    records = records_of(folder)
    kinds = {record.WhichOneof("record_type") for record in records}
    assert kinds == {"header", "run", "telemetry", "history", "summary", "exit"}
    private = "|".join(re.escape(word) for word in ("gpt2", socket.gethostname(), str(tmp_path)))
    assert not re.search(rf"(?<!\w)({private})(?!\w)", str(records))  # a run's random ID may contain a short hostname
    assert not any(key.encode() in path.read_bytes() for path in folder.rglob("*") if path.is_file())


def test_run_in_a_store_has_all_metrics(tiny_text, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    uri = f"memory://{tmp_path}/run"
    config = config_of(tmp_path / "run", tiny_text, **LOOP) | {"folder": uri}
    with pytest.raises(Interruption):
        run_pretraining(config, interrupting_after(6))
    run_pretraining(config)
    for name in storage.list_files(uri):
        if name.startswith("wandb/") or name == "metrics.jsonl":
            (tmp_path / "run" / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / "run" / name).write_bytes(storage.read_bytes(f"{uri}/{name}"))
    assert tracked(tmp_path / "run") == logged(tmp_path / "run")
    storage.remove(uri)


def test_run_without_a_key_is_given_up(tiny_text, tmp_path, monkeypatch):
    monkeypatch.setenv("WANDB_MODE", "online")
    with pytest.warns(UserWarning, match="not reported to wandb any more"):
        run_pretraining(config_of(tmp_path / "run", tiny_text, **LOOP))
    assert curve_of(tmp_path / "run")[-1]["step"] == 8

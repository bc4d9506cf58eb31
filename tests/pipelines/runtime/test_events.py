import json
from datetime import datetime

import pytest
from builds import run_build, write_lines

from pipelines.runtime.events import log_event


def test_events_are_not_written_by_default(capsys, monkeypatch):
    for value in (None, "", "text"):
        monkeypatch.delenv("BITCIPHER_LOG", raising=False)
        if value is not None:
            monkeypatch.setenv("BITCIPHER_LOG", value)
        log_event("counted", shard="a")
    assert capsys.readouterr() == ("", "")


def test_event_is_written_as_a_line_of_json(capsys, monkeypatch):
    monkeypatch.setenv("BITCIPHER_LOG", "json")
    log_event("worker died", row="naïve\nname", attempt=2, costs=[{"seconds": 0.5}])
    log_event("published")
    out, err = capsys.readouterr()
    first, second = map(json.loads, err.splitlines())
    assert out == ""
    assert first.pop("time") <= second.pop("time")
    assert first == {"event": "worker died", "row": "naïve\nname", "attempt": 2, "costs": [{"seconds": 0.5}]}
    assert second == {"event": "published"}


def test_job_logs_shards_merges_and_published_version(documents, tmp_path, capsys, monkeypatch):
    files = [write_lines(tmp_path / f"{i}.jsonl", documents[i::3]) for i in range(3)]
    monkeypatch.setenv("BITCIPHER_LOG", "json")
    manifest = run_build(files, tmp_path / "build")
    events = [json.loads(line) for line in capsys.readouterr().err.splitlines() if line.startswith("{")]
    assert all(datetime.fromisoformat(event["time"]).tzinfo for event in events)
    counted = {event["shard"]: event["tokens"] for event in events if event["event"] == "counted"}
    assert counted == {shard["name"]: shard["tokens"] for shard in manifest["shards"]}
    parts = [part for segment in manifest["segments"] for part in segment["parts"]]
    assert {event["part"] for event in events if event["event"] == "merged"} == set(parts)
    (published,) = (event for event in events if event["event"] == "published")
    assert (published["build"], published["version"]) == (str(tmp_path / "build"), 1)
    for event in events[:-1]:
        assert event["cost"]["cpu_seconds"] == pytest.approx(0, abs=60)

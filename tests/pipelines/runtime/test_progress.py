"""Progress without a terminal: lines that are rare, and none with `--quiet`."""

import json

import pytest

from pipelines.runtime import progress
from pipelines.runtime.progress import StageProgress
from pipelines.runtime.verbosity import Verbosity, using_verbosity


def count(steps=4):
    with StageProgress() as bars:
        bar = bars.begin("count", steps)
        for step in range(1, steps + 1):
            bars.advance(bar, 1, f"{step} shards")
        bars.end(bar)


def test_short_commands_write_no_lines(capsys):
    count()
    assert capsys.readouterr() == ("", "")


def test_long_commands_write_lines(capsys, monkeypatch):
    monkeypatch.setattr(progress, "LINE_SECONDS", 0)
    count()
    out, err = capsys.readouterr()
    assert out == ""
    assert [line.partition(" %")[0] for line in err.splitlines()] == [f"count: {share}" for share in (25, 50, 75, 100)]
    assert err.splitlines()[-1].endswith(", 4 shards")


def test_time_left_is_that_of_the_mean_speed_of_this_command(capsys, monkeypatch):
    monkeypatch.setattr(progress, "LINE_SECONDS", 0)
    clock = [0.0]
    monkeypatch.setattr("rich.console.monotonic", lambda: clock[0])
    with StageProgress() as bars:
        bar = bars.begin("count", 100, done=40)  # by an earlier command
        # Two workers end items of four minutes at nearly the same time.
        for seconds in (240, 241, 480, 481, 720):
            clock[0] = seconds
            bars.advance(bar, 12, "")
    lines = [line.removeprefix("count: ") for line in capsys.readouterr().err.splitlines()]
    assert lines == [
        "52 %, 0:16:00 left",
        "64 %, 0:06:01 left",
        "76 %, 0:05:20 left",
        "88 %, 0:02:00 left",
        "100 %",
    ]


def test_work_of_an_earlier_command_does_not_count_for_the_time_left(capsys, monkeypatch):
    monkeypatch.setattr(progress, "LINE_SECONDS", 0)
    clock = [0.0]
    monkeypatch.setattr("rich.console.monotonic", lambda: clock[0])
    with StageProgress() as bars:
        bar = bars.begin("merge", 10)
        for seconds, was_done in ((1, True), (2, True), (60, False), (120, False)):
            clock[0] = seconds
            bars.advance(bar, 1, "", was_done=was_done)
    lines = [line.removeprefix("merge: ") for line in capsys.readouterr().err.splitlines()]
    assert lines == ["10 %", "20 %", "30 %, 0:07:00 left", "40 %, 0:06:00 left"]


def test_quiet_commands_write_nothing(capsys, monkeypatch):
    monkeypatch.setattr(progress, "LINE_SECONDS", 0)
    with using_verbosity(Verbosity.QUIET):
        count()
        StageProgress().say("a sentence")
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize("verbosity", Verbosity)
def test_json_log_has_events_instead_of_lines(capsys, monkeypatch, verbosity):
    monkeypatch.setattr(progress, "LINE_SECONDS", 0)
    monkeypatch.setenv("BITCIPHER_LOG", "json")
    with using_verbosity(verbosity):
        count(2)
    events = [json.loads(line) for line in capsys.readouterr().err.splitlines()]
    assert [(event["event"], event["percent"]) for event in events] == (
        [] if verbosity is Verbosity.QUIET else [("progress", 50), ("progress", 100)]
    )

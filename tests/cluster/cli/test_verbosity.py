"""`--verbose` and `--quiet` of commands that run for long."""

import pytest

from pipelines.runtime import progress

OPTIONS = ("--min-count", "1", "--mode", "cat", "--window", "2", "--bits", "4", "--tokenizer", "whitespace")


@pytest.fixture
def text(tmp_path):
    file = tmp_path / "text.txt"
    file.write_text("the cat saw the dog\n" * 50)
    return file


def test_quiet_build_prints_nothing(run_command, text, tmp_path, monkeypatch):
    monkeypatch.setattr(progress, "LINE_SECONDS", 0)
    assert run_command("build", text, "--out", tmp_path / "build", *OPTIONS, "-q") == (0, "", "")
    assert run_command("update", tmp_path / "build", text, "--quiet") == (0, "", "")
    assert run_command("verify", tmp_path / "build", "-q") == (0, "", "")
    # The next command is not quiet.
    assert "Nothing is new" in run_command("update", tmp_path / "build", text).out


def test_quiet_command_prints_errors_and_damage(run_command, text, tmp_path):
    code, out, err = run_command("build", tmp_path / "missing", "--out", tmp_path / "build", "-q")
    assert (code, out, err.count("\n")) == (2, "", 1)
    run_command("build", text, "--out", tmp_path / "build", *OPTIONS)
    shard = next(tmp_path.glob("build/shards/**/*.parquet"))
    shard.write_bytes(b"")
    code, out, err = run_command("verify", tmp_path / "build", "-q")
    assert code == 2
    assert shard.name in out


def test_verbose_build_writes_events(run_command, text, tmp_path):
    code, out, err = run_command("build", text, "--out", tmp_path / "build", *OPTIONS, "-v")
    lines = [line.partition(":")[0] for line in err.splitlines()]
    assert code == 0
    assert lines == ["counted", "published"]
    assert "tokens 250, seconds" in err
    assert "counted" not in out


def test_long_commands_write_progress_without_a_terminal(run_command, text, tmp_path, monkeypatch):
    monkeypatch.setattr(progress, "LINE_SECONDS", 0)
    _, _, err = run_command("build", text, "--out", tmp_path / "build", *OPTIONS)
    assert "count: 95 %" in err


def test_both_options_are_refused(run_command, tmp_path):
    code, _, err = run_command("verify", tmp_path, "-v", "-q")
    assert (code, err) == (2, "bitcipher: Give --verbose or --quiet, not both.\n")

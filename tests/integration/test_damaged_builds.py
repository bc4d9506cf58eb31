"""Builds with empty sources, and with files that a power cut or a kill left behind: the next command goes on."""

import subprocess
import sys
from pathlib import Path

import pytest
from builds import OPTIONS, digests, run_build, run_update, write_lines

from bitcipher.errors import BitcipherError
from bitcipher.versions import versions
from pipelines.builds.build import build, update
from pipelines.builds.prune import drop_unfinished, prune
from pipelines.builds.status import read_status
from pipelines.ingest.content_kinds import COMPRESSION_ENDINGS
from pipelines.ingest.sources import FORMAT_OF_ENDING, format_of
from pipelines.options import UpdateOptions
from pipelines.runtime.in_process import InProcessRuntime
from pipelines.runtime.progress import StageProgress
from pipelines.store import lease

CAT = OPTIONS.derive({"mode": "cat"})
# Commands run in a process that ends abruptly after it has published a version.
KILLED_AFTER_PUBLISHING = """
import os
from cluster.cli.main import main
from pipelines.builds import make_version
make_version.finish_job = lambda job: os._exit(9)
main()
"""


@pytest.fixture
def files(documents, tmp_path):
    """Paths of four files, each of them a count task with two shards."""
    return [write_lines(tmp_path / f"{i}.jsonl", documents[i::4] * 2) for i in range(4)]


class StoppingRuntime(InProcessRuntime):
    """Runtime that stops before the vectors are made."""

    def stream(self, spec, inputs):
        if spec.name == "embed":
            raise BitcipherError("The stage was interrupted.")
        return super().stream(spec, inputs)


@pytest.fixture
def interrupted(files, tmp_path):
    """A build that was interrupted before it made vectors."""
    target = tmp_path / "build"
    with StageProgress() as progress, pytest.raises(BitcipherError, match="interrupted"):
        build(list(map(str, files)), str(target), CAT, StoppingRuntime(), progress)
    return target


@pytest.fixture
def short_intervals(monkeypatch):
    monkeypatch.setattr(lease, "HEARTBEAT_SECONDS", 0.1)
    monkeypatch.setattr(lease, "EXPIRY_SECONDS", 2)


@pytest.fixture
def command(run_command):
    """Function that runs a command in this process; it returns the exit code, the output and the errors."""

    def command(*arguments):
        code, out, err = run_command(*arguments)
        return code, " ".join(out.split()), err

    return command


def test_empty_sources_of_every_format_have_no_documents(documents, tmp_path):
    first, second = (write_lines(tmp_path / f"{i}.jsonl", documents[i::2]) for i in range(2))
    run_build([first], tmp_path / "one")
    run_build([first, second], tmp_path / "both")
    folder = tmp_path / "empty"
    folder.mkdir()
    for ending in FORMAT_OF_ENDING:
        for name in (f"a{ending}{compression}" for compression in ("", *COMPRESSION_ENDINGS)):
            if format_of(name):
                (folder / name).touch()
    grown = tmp_path / "grown"
    run_build([first, folder], grown)
    assert digests(grown) == digests(tmp_path / "one")
    (folder / "new.parquet").touch()
    manifest, _ = run_update(grown, [first, second, folder])
    assert manifest["version"] == 2
    assert digests(grown) == digests(tmp_path / "both")


def entries(build: Path):
    return sorted((build / "ledger").rglob("*.json"))


@pytest.mark.parametrize("content", [b"", bytes(64)], ids=["empty", "zeros"])
def test_build_resumes_although_any_entry_is_incomplete(files, interrupted, tmp_path, content):
    run_build(files, tmp_path / "whole", CAT)
    kinds = {path.parent.name: path for path in entries(interrupted)}
    one_of_each_kind = [path for path in kinds.values() if path.stem != "current"]
    assert len(one_of_each_kind) >= 4
    for path in one_of_each_kind:
        path.write_bytes(content)
    assert read_status(str(interrupted)).job is not None
    run_build(files, interrupted, CAT)
    assert digests(interrupted) == digests(tmp_path / "whole")
    assert entries(interrupted) == []


@pytest.mark.parametrize("name", ["ledger", "lease", "both"])
def test_build_goes_on_although_its_job_or_lease_is_empty(files, interrupted, tmp_path, short_intervals, command, name):
    run_build(files, tmp_path / "whole", CAT)
    paths = {"ledger": [*(interrupted / "ledger/job").iterdir()], "lease": [*(interrupted / "lease").iterdir()]}
    for path in (*paths["ledger"], *paths["lease"]) if name == "both" else paths[name]:
        path.write_bytes(b"")
    code, printed, error = command("status", interrupted)
    if name == "lease":
        assert (code, error) == (0, "")
        assert "run the same command again" in printed
    else:
        assert (code, error.count("\n")) == (2, 1)
        assert "is not a build, and has no unfinished job" in error
    run_build(files, interrupted, CAT)
    assert digests(interrupted) == digests(tmp_path / "whole")


@pytest.mark.parametrize("content", [b"", b"{}"], ids=["empty", "of another version"])
def test_unfinished_job_is_dropped_although_all_its_entries_are_damaged(interrupted, short_intervals, command, content):
    for path in (*entries(interrupted), *(interrupted / "lease").iterdir()):
        path.write_bytes(content)
    if content:
        code, _, error = command("status", interrupted)
        assert (code, error.count("\n")) == (2, 1)
        assert "ledger/job/current.json: `id` is missing. Drop the unfinished job with `bitcipher prune" in error
    assert command("prune", interrupted, "--unfinished") == (0, "Removed 8 shards of an interrupted job.", "")
    assert not any(path.is_file() for path in interrupted.rglob("*") if path.parent.name != "lease")


@pytest.fixture
def damaged(files, tmp_path):
    """A build with two versions, of which the manifest of the first is damaged."""
    target = tmp_path / "build"
    run_build(files[:1], target, CAT)
    run_update(target, files[:2])
    (target / "versions/000001.json").write_bytes(b"")
    return target


def test_damaged_old_manifest_does_not_end_updates(files, damaged, tmp_path, command):
    counts = {path for path in damaged.rglob("*") if path.parent.name in ("shards", "segments")}
    code, _, error = command("update", damaged, *files)
    assert (code, error) == (0, "")
    assert versions(str(damaged)) == [1, 2, 3]
    assert counts <= set(damaged.rglob("*"))  # the first version may need them
    run_build(files, tmp_path / "whole", CAT)
    assert digests(damaged) == digests(tmp_path / "whole")
    assert entries(damaged) == []


def test_damaged_old_manifest_is_shown_and_pruned(damaged, command):
    code, printed, error = command("status", damaged)
    assert (code, error) == (0, "")
    assert "versions/000001.json is not a JSON object" in printed
    assert "bitcipher prune --keep" in printed
    assert "version 2: " in printed
    assert prune(str(damaged), keep=1) == [1]
    assert {path.name[:6] for path in (damaged / "versions").iterdir()} == {"000002"}


def run_killed(*arguments):
    """Run a command in a process that is killed right after it has published a version."""
    result = subprocess.run([sys.executable, "-c", KILLED_AFTER_PUBLISHING, *map(str, arguments)], capture_output=True)
    assert result.returncode == 9, result.stderr


OPTIONS_OF_COMMANDS = ("--tokenizer", "whitespace", "--mode", "cat", "--shard-mib", 1, "--memory-mib", 600)


@pytest.mark.parametrize("command_before", ["build", "update"])
def test_commands_after_a_kill_between_publishing_and_clean_up(files, tmp_path, command, command_before):
    target = tmp_path / "build"
    if command_before == "build":
        run_killed("build", files[0], files[1], "--out", target, *OPTIONS_OF_COMMANDS)
    else:
        run_build(files[:1], target, CAT)
        run_killed("update", target, files[0], files[1])
    (version,) = versions(str(target))[-1:]
    assert entries(target) != []
    code, printed, _ = command("status", target)
    assert code == 0
    assert f"The job for version {version} published it" in printed
    assert "run the same command again" not in printed
    assert "The next `bitcipher update` removes them" in printed
    code, printed, error = command("update", target, *files)
    assert (code, error) == (0, "")
    assert entries(target) == []
    run_build(files, tmp_path / "whole", CAT)
    assert digests(target) == digests(tmp_path / "whole")


def test_unfinished_update_after_such_a_kill_is_a_job_of_its_own(files, tmp_path, command):
    target = tmp_path / "build"
    run_killed("build", files[0], "--out", target, *OPTIONS_OF_COMMANDS)
    with StageProgress() as progress, pytest.raises(BitcipherError, match="interrupted"):
        update(str(target), list(map(str, files)), UpdateOptions(), 600, StoppingRuntime(), progress)
    _, printed, _ = command("status", target)
    assert "Unfinished job for version 2" in printed
    assert drop_unfinished(str(target)) > 0


def test_same_build_after_such_a_kill_only_cleans_up(files, tmp_path, command):
    target = tmp_path / "build"
    arguments = ("build", *files[:2], "--out", target, *OPTIONS_OF_COMMANDS)
    run_killed(*arguments)
    before = digests(target)
    code, _, error = command("build", *files, "--out", target, *OPTIONS_OF_COMMANDS)  # other sources
    assert (code, "already exists" in error) == (2, True)
    code, printed, error = command(*arguments)
    assert (code, error) == (0, "")
    assert "version 1" in printed
    assert entries(target) == []
    assert digests(target) == before
    code, _, error = command(*arguments)
    assert (code, "already exists" in error) == (2, True)


def test_dropping_a_published_job_drops_no_shards(files, tmp_path):
    run_killed("build", *files[:2], "--out", tmp_path / "build", *OPTIONS_OF_COMMANDS)
    before = digests(tmp_path / "build")
    assert drop_unfinished(str(tmp_path / "build")) == 0
    assert digests(tmp_path / "build") == before

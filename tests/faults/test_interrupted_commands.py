"""Commands that are killed, that run on a full disk, or that run at the same time as another one.

After each fault, the same command gives the result of an undisturbed one, nothing is left behind, and the files of the
user in and beside the folder are as they were.
"""

import json
import os
import random
import shutil
import signal
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import pytest
from builds import OPTIONS, digests, run_build, run_update, write_lines
from change_faults import CRASHED, crash_at, fill_disk_at
from commands import unreferenced_files
from document_shards import content_of
from forked_commands import ForkedCommand

from bitcipher.versions import versions

FEW = OPTIONS.copy_with(mode="cat", bits=16, window=2, min_count=1)
FLAGS = ("--tokenizer", "whitespace", "--mode", "cat", "--bits", "16", "--window", "2", "--min-count", "1")
FLAGS += ("--shard-mib", "1", "--memory-mib", "600")

# Files of the user, beside the target and, if there is a build, in it.
BESIDE = ("thesis.txt", "target.work/thesis.txt", f"target.{'0' * 32}.tmp/thesis.txt", "work/thesis.txt")
INSIDE = ("notes.txt", "shards/mine.parquet", "versions/mine/thesis.txt", "work/thesis.txt", "lease/notes.txt")


def _digests(target: Path) -> object:
    found = [vars(digests(target, version)) for version in versions(str(target))]
    return [found, sorted(unreferenced_files(target) - set(INSIDE))]


def _contents(target: Path) -> object:
    return {name: content.hex() for name, content in content_of(target).items()}


@dataclass(frozen=True)
class Job:
    """A command that writes a target."""

    arguments: tuple[str, ...]
    before: str | None = None
    """Folder that is copied to the target before the command."""
    state: Callable[[Path], object] = field(default=_digests)
    """What must be equal to an undisturbed command."""


JOBS = {
    "build": Job(("build", "0.jsonl", "1.jsonl", "--out", "target", *FLAGS)),
    "update": Job(("update", "target", "0.jsonl", "1.jsonl", "2.jsonl", "3.jsonl"), "one"),
    "prune": Job(("prune", "target", "--keep", "1"), "two"),
    "embed": Job(("embed", "one", "--mode", "sum", "--out", "target"), None, _contents),
    "shard": Job(("shard", "0.jsonl", "1.jsonl", "--out", "target"), None, _contents),
    "filter": Job(("filter", "0.jsonl", "1.jsonl", "--top", "50", "--out", "target"), None, _contents),
}


@pytest.fixture(scope="module")
def originals(documents, tmp_path_factory) -> Path:
    """Four sources, a build of one version, and a build of two versions."""
    folder = tmp_path_factory.mktemp("originals")
    files = [write_lines(folder / f"{i}.jsonl", documents[i * 10 : i * 10 + 10]) for i in range(4)]
    run_build(files[:3], folder / "one", FEW)
    shutil.copytree(folder / "one", folder / "two")
    run_update(folder / "two", files)
    return folder


@pytest.fixture
def folder(originals, tmp_path, monkeypatch) -> Path:
    monkeypatch.chdir(shutil.copytree(originals, tmp_path / "folder"))
    monkeypatch.setattr("pipelines.store.lease.HEARTBEAT_SECONDS", 0.1)
    monkeypatch.setattr("pipelines.store.lease.EXPIRY_SECONDS", 0.6)
    return tmp_path / "folder"


def prepare(folder: Path, job: Job) -> list[Path]:
    """Copy what the target holds before a job, and write the user's files, whose paths are returned."""
    target = folder / "target"
    if job.before:
        shutil.copytree(folder / job.before, target)
    mine = [folder / name for name in BESIDE] + [target / name for name in INSIDE if job.before]
    for path in mine:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("mine")
    return mine


def clear(folder: Path) -> None:
    for path in folder.glob("target*"):
        shutil.rmtree(path)


def check_files(folder: Path, mine: list[Path]) -> None:
    """Check that the user's files are there, and no other file is next to the target."""
    assert [path.read_text() for path in mine] == ["mine"] * len(mine)
    assert {path.name for path in folder.glob("target*")} <= {"target", *(name.split("/")[0] for name in BESIDE)}


def undisturbed(folder: Path, job: Job) -> object:
    """Return the state of the target after an undisturbed job."""
    prepare(folder, job)
    outcome = ForkedCommand(job.arguments).wait()
    assert outcome.code == 0, outcome.err
    try:
        return job.state(folder / "target")
    finally:
        clear(folder)


def count_changes(folder: Path, job: Job, fault: Callable[[int], Callable[[], int]]) -> int:
    """Return the number of changes, or of writes, of an undisturbed job."""
    prepare(folder, job)
    counter: list[Callable[[], int]] = []
    outcome = ForkedCommand(job.arguments, lambda: counter[0](), lambda: counter.append(fault(2**60))).wait()
    clear(folder)
    return outcome.result


def repeat(folder: Path, job: Job, expected: object) -> str:
    """Run a command again after a fault, and check its result. Return whether the first run was complete."""
    outcome = ForkedCommand(job.arguments).wait()
    is_complete = outcome.code == 2 and "already exists" in outcome.err
    assert outcome.code == 0 or is_complete, outcome.err
    assert job.state(folder / "target") == expected
    return "complete" if is_complete else "repeated"


@pytest.mark.parametrize("kills", [pytest.param(3, marks=pytest.mark.long), pytest.param(34, marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", JOBS)
def test_killed_commands_are_repeated(folder, print_measurement, name, kills):
    job, found = JOBS[name], Counter()
    expected = undisturbed(folder, job)
    changes = count_changes(folder, job, crash_at)
    for number in random.Random(name).sample(range(1, changes + 1), min(kills, changes)):
        mine = prepare(folder, job)
        killed = ForkedCommand(job.arguments, before=partial(crash_at, number)).wait()
        assert killed.code in (0, CRASHED)  # a heartbeat of the lease is a change, too, so their number varies
        found[repeat(folder, job, expected) if killed.code else "not reached"] += 1
        check_files(folder, mine)
        clear(folder)
    print_measurement(f"{changes} changes, {dict(found)}")


@pytest.mark.parametrize("step", [pytest.param(15, marks=pytest.mark.long), pytest.param(1, marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", JOBS)
def test_full_disks_give_a_sentence(folder, print_measurement, name, step):
    job, found = JOBS[name], Counter()
    expected = undisturbed(folder, job)
    writes = count_changes(folder, job, fill_disk_at)
    for number in range(1, writes + 1, step):
        mine = prepare(folder, job)
        outcome = ForkedCommand(job.arguments, before=partial(fill_disk_at, number)).wait()
        # After a version is published, only unneeded files are removed.
        assert outcome.code == 0 or (outcome.names("disk is full") and "Traceback" not in outcome.err), outcome
        found["sentence" if outcome.code else "published"] += 1
        repeat(folder, job, expected)
        check_files(folder, mine)
        clear(folder)
    print_measurement(f"{writes} writes, {dict(found)}")


PAIRED = {
    "update": ("update", "target", "0.jsonl", "1.jsonl", "2.jsonl", "3.jsonl"),
    "prune": ("prune", "target", "--keep", "1"),
    "prune unfinished": ("prune", "target", "--unfinished"),
    "embed": ("embed", "target", "--mode", "sum", "--out", "vectors"),
    "export": ("export", "target", "--format", "counts", "--out", "counts"),
    "verify": ("verify", "target"),
    "status": ("status", "target"),
}


@pytest.mark.parametrize("second", PAIRED)
@pytest.mark.parametrize("first", [pytest.param(name, marks=pytest.mark.slow) for name in PAIRED])
def test_command_that_is_stopped_while_another_runs(folder, print_measurement, first, second):
    job, found, state = JOBS["update"], Counter(), random.Random(first + second)
    expected = undisturbed(folder, job)
    for _ in range(4):
        mine = prepare(folder, job)
        stopped = ForkedCommand(PAIRED[first])
        time.sleep(state.uniform(0, 0.4))
        os.kill(stopped.pid, signal.SIGSTOP)
        outcomes = [ForkedCommand(PAIRED[second]).wait()]
        os.kill(stopped.pid, signal.SIGCONT)
        outcomes.append(stopped.wait())
        for outcome in outcomes:
            assert outcome.code == 0 or outcome.names(""), outcome
            found[outcome.code] += 1
        again = ForkedCommand(job.arguments).wait()
        assert again.code == 0, again.err
        assert digests(folder / "target") == digests(folder / "two")
        assert unreferenced_files(folder / "target") - set(INSIDE) == set()
        check_files(folder, mine)
        for name in ("vectors", "counts"):
            shutil.rmtree(folder / name, ignore_errors=True)
        clear(folder)
    print_measurement(f"exit codes {json.dumps(found)}")
    assert expected

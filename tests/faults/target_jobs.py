"""Commands that write a target folder, run in a folder of sources and builds that also holds files of the user."""

import shutil
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from builds import OPTIONS, digests, run_build, run_update, write_lines
from commands import unreferenced_files
from document_shards import content_of
from forked_commands import ForkedCommand

from bitcipher.files import storage
from bitcipher.versions import versions

FEW = OPTIONS.derive({"mode": "cat", "bits": 16, "window": 2, "min_count": 1})
FLAGS = ("--tokenizer", "whitespace", "--mode", "cat", "--bits", "16", "--window", "2", "--min-count", "1")
FLAGS += ("--shard-mib", "1", "--memory-mib", "600")

# Files of the user, beside the target and, if there is a build, in it.
BESIDE = ("thesis.txt", "target.work/thesis.txt", f"target.{'0' * 32}.tmp/thesis.txt", "work/thesis.txt")
INSIDE = ("notes.txt", "shards/mine.parquet", "versions/mine/thesis.txt", "work/thesis.txt", "lease/notes.txt")


def _digests(target: Path) -> object:
    found = [vars(digests(target, version)) for version in versions(str(target))]
    return [found, sorted(unreferenced_files(target) - set(INSIDE))]


def newest(target: Path) -> object:
    """Return the digests of the newest version, and the files that no version refers to."""
    return [vars(digests(target)), sorted(unreferenced_files(target) - set(INSIDE))]


def _contents(target: Path) -> object:
    unfinished = [path.name for path in (target / "lease").glob("*") if path.suffix == storage.UNFINISHED]
    return [unfinished, {name: content.hex() for name, content in content_of(target).items()}]


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
    "update counts": Job(("update", "target", *(f"{i}.jsonl" for i in range(4)), "--vectors", "later"), "one"),
    "update vectors": Job(("update", "target"), "counted"),
    "prune": Job(("prune", "target", "--keep", "1"), "two"),
    "embed": Job(("embed", "one", "--mode", "sum", "--out", "target"), None, _contents),
    "shard": Job(("shard", "0.jsonl", "1.jsonl", "--out", "target"), None, _contents),
    "filter": Job(
        ("study", "downscaling", "filter", "0.jsonl", "1.jsonl", "--top", "50", "--out", "target"), None, _contents
    ),
}


def write_originals(folder: Path, documents: list[str]) -> None:
    """Write four sources, a build of one version, a build of two versions, and one whose second has no vectors."""
    files = [write_lines(folder / f"{i}.jsonl", documents[i * 10 : i * 10 + 10]) for i in range(4)]
    run_build(files[:3], folder / "one", FEW)
    shutil.copytree(folder / "one", folder / "two")
    shutil.copytree(folder / "one", folder / "counted")
    run_update(folder / "two", files)
    run_update(folder / "counted", files, vectors="later")


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


def repeat(folder: Path, job: Job, expected: object) -> str:
    """Run a command again after a fault, and check its result. Return whether the first run was complete."""
    outcome = ForkedCommand(job.arguments).wait()
    is_complete = outcome.code == 2 and "already exists" in outcome.err
    assert outcome.code == 0 or is_complete, outcome.err
    assert job.state(folder / "target") == expected
    return "complete" if is_complete else "repeated"

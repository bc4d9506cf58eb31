"""Two concurrent jobs with the same target, as processes: one succeeds, the other reports the conflict."""

import os
import signal
import time
from pathlib import Path

import pytest
from builds import FRESH, digests, run_build, write_lines
from commands import Command, unreferenced_files

from bitcipher.versions import versions

# A lease that expires early, so that tests need not wait long until a suspended process counts as dead.
EXPIRY_SECONDS = 3.0
SHORT_LEASE = (
    f"from pipelines.store import lease; lease.HEARTBEAT_SECONDS, lease.EXPIRY_SECONDS = 0.2, {EXPIRY_SECONDS}"
)

STOP = """
import os, signal
from bitcipher.files import storage
from pipelines.builds import make_version
from pipelines.store import lease
event, check, create = make_version.log_event, lease.Lease.check, storage.create

def stop():
    if not os.path.exists({once!r}):
        open({once!r}, "w").close()
        os.kill(os.getpid(), signal.SIGSTOP)

def stop_at_event(name, **fields):
    event(name, **fields)
    if name == {where!r}:
        stop()

def stop_before_check(lease):
    if {where!r} == "check":
        stop()
    check(lease)

def stop_before_create(uri, content):
    if {where!r} == "create" and os.path.basename(os.path.dirname(uri)) == "versions":
        stop()
    return create(uri, content)

make_version.log_event, lease.Lease.check, storage.create = stop_at_event, stop_before_check, stop_before_create
"""


class Updates:
    """Build of two files and updates of it that suspend themselves at chosen points. Remaining processes are killed."""

    def __init__(self, folder: Path, documents: list[str]):
        self._folder = folder
        self.files = [write_lines(folder / f"{i}.jsonl", documents[i::5]) for i in range(5)]
        self.build = folder / "build"
        run_build(self.files[:2], self.build)
        self._expected = [digests(self.build)]
        for count in (4, 5):
            run_build(self.files[:count], folder / f"expected{count}")
            self._expected.append(digests(folder / f"expected{count}"))
        self.started: list[Command] = []

    def start(self, count: int, where: str = "nowhere", before: str = SHORT_LEASE) -> Command:
        """Start an update with the first `count` files. It runs `before` and suspends itself at the point `where`."""
        name = f"update{len(self.started)}"
        stop = STOP.format(once=str(self._folder / f"{name}.stopped"), where=where)
        log = self._folder / f"{name}.log"
        self.started.append(Command("update", self.build, *self.files[:count], *FRESH, before=before + stop, log=log))
        return self.started[-1]

    def check(self) -> None:
        """Assert that every version equals one of the expected builds."""
        for version in versions(str(self.build)):
            assert digests(self.build, version) in self._expected
        assert digests(self.build, 1) == self._expected[0]

    def check_last(self) -> None:
        """Assert that the newest version contains all files."""
        self.check()
        assert digests(self.build) == self._expected[-1]
        assert unreferenced_files(self.build) == set()


@pytest.fixture
def updates(tmp_path, documents):
    updates = Updates(tmp_path, documents)
    yield updates
    for command in updates.started:
        if command.is_running:
            command.kill()


def wait_until_stopped(command: Command) -> None:
    stat = Path(f"/proc/{command.process.pid}/stat")
    while stat.read_text().rpartition(")")[2].split()[0] != "T":
        assert command.is_running, command.error_output()
        time.sleep(0.01)


def resume(command: Command) -> None:
    os.kill(command.process.pid, signal.SIGCONT)


@pytest.mark.long
def test_one_of_two_concurrent_jobs_succeeds(updates):
    # The usual lease, which does not expire while the second process starts on a busy machine.
    first = updates.start(5, "counted", before="")
    wait_until_stopped(first)
    second = updates.start(5, before="")
    assert second.wait() == 2
    assert "Another job is running on" in second.error_output()
    assert "Traceback" not in second.error_output()
    resume(first)
    assert first.wait() == 0, first.error_output()
    assert versions(str(updates.build)) == [1, 2]
    updates.check_last()


CONFLICT_MESSAGES = {
    "counted": "Another job has taken over",
    "check": "Another job has taken over",
    "create": "Another job published version 2",
}


@pytest.mark.long
@pytest.mark.parametrize("where", ["create", *(pytest.param(w, marks=pytest.mark.slow) for w in ("counted", "check"))])
def test_resumed_job_does_not_replace_a_newer_version(updates, where):
    late = updates.start(4, where)
    wait_until_stopped(late)
    time.sleep(EXPIRY_SECONDS + 0.5)
    other = updates.start(5)
    assert other.wait() == 0, other.error_output()
    newer = (updates.build / "versions" / "000002.json").read_bytes()
    resume(late)
    assert late.wait() == 2
    assert CONFLICT_MESSAGES[where] in late.error_output()
    assert "Traceback" not in late.error_output()
    assert (updates.build / "versions" / "000002.json").read_bytes() == newer
    updates.start(5).wait()  # there are no new files, but this update removes the files of the late one
    updates.check_last()


@pytest.mark.long
@pytest.mark.parametrize(
    "where", ["published", *(pytest.param(w, marks=pytest.mark.slow) for w in ("counted", "check", "create"))]
)
def test_resumed_job_does_not_damage_the_running_job(updates, where):
    late = updates.start(4, where)
    wait_until_stopped(late)
    time.sleep(EXPIRY_SECONDS + 0.5)
    other = updates.start(5, "counted")
    wait_until_stopped(other)
    resume(late)
    late.wait()
    updates.check()
    resume(other)
    other.wait()
    updates.check()
    assert updates.start(5).wait() == 0
    updates.check_last()
    assert "Traceback" not in late.error_output() + other.error_output()

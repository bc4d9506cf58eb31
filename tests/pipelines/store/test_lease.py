import multiprocessing
import signal
import subprocess
import sys
import threading
import time
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime, timedelta

import pytest
from object_store import Fault

from bitcipher.errors import BitcipherError
from bitcipher.files import json_files, storage
from pipelines.store import lease
from pipelines.store.lease import Lease

HEARTBEAT = 0.05
# Long enough for the heartbeats of a live holder on a busy machine. A waiting job reads its file every second.
EXPIRY = float(lease.POLLS)
# For a holder that sends no heartbeats.
SHORT_EXPIRY = 1.2


@pytest.fixture(autouse=True)
def short_intervals(monkeypatch):
    monkeypatch.setattr(lease, "HEARTBEAT_SECONDS", HEARTBEAT)
    monkeypatch.setattr(lease, "EXPIRY_SECONDS", EXPIRY)


@contextmanager
def lease_of_expired_holder(build):
    """Acquire a lease after a short wait, and then hold it with the longer expiry."""
    with ExitStack() as held:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(lease, "EXPIRY_SECONDS", SHORT_EXPIRY)
            mine = held.enter_context(Lease(build))
        yield mine


def holder(build):
    generations = storage.list_files(storage.join(build, "lease"))
    return json_files.read(storage.join(build, "lease", max(generations)))


def write_remote_holder(build, seconds_ago, beat=3, released=False):
    """Write the lease file of a holder on another machine."""
    moment = (datetime.now(UTC) - timedelta(seconds=seconds_ago)).isoformat()
    content = {"owner": "o", "host": "far", "machine": "far", "pid": 7, "started": moment, "time": moment}
    json_files.write(storage.join(build, "lease/000004.json"), content | {"beat": beat, "released": released})


def wait_until(true):
    while not true():
        time.sleep(0.01)


def test_lease_is_exclusive_until_it_is_released(base_uri):
    with Lease(base_uri) as first:
        first.check()
        assert not holder(base_uri)["released"]
        with pytest.raises(BitcipherError, match=r"^Another job is running on .* \(on .*, process \d+, since 20"):
            Lease(base_uri).__enter__()
        first.check()
    assert holder(base_uri)["released"]
    with Lease(base_uri) as second:
        second.check()
        assert list(storage.list_files(storage.join(base_uri, "lease"))) == ["000002.json"]


def test_failed_block_releases_the_lease(base_uri):
    def fail():
        with Lease(base_uri):
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert holder(base_uri)["released"]


def test_holder_sends_heartbeats(base_uri):
    with Lease(base_uri):
        wait_until(lambda: holder(base_uri)["beat"] >= 2)


def test_recent_heartbeat_of_another_machine_raises(base_uri):
    write_remote_holder(base_uri, seconds_ago=0)
    with pytest.raises(BitcipherError, match=r"Another job is running on .* \(on far, process 7, since "):
        Lease(base_uri).__enter__()


@pytest.mark.parametrize("seconds_ago", [3_600, -3_600], ids=["old", "of a clock that is ahead"])
def test_holder_on_another_machine_without_heartbeats_is_replaced(base_uri, seconds_ago):
    write_remote_holder(base_uri, seconds_ago)
    with lease_of_expired_holder(base_uri) as mine:
        mine.check()
        assert list(storage.list_files(storage.join(base_uri, "lease"))) == ["000005.json"]


@pytest.mark.parametrize("seconds_ago", [3_600, -3_600], ids=["behind", "ahead"])
def test_holder_with_heartbeats_and_another_clock_is_not_replaced(base_uri, seconds_ago):
    ended = threading.Event()

    def beat():
        number = 3
        while not ended.wait(HEARTBEAT):
            number += 1
            write_remote_holder(base_uri, seconds_ago, number)

    write_remote_holder(base_uri, seconds_ago)
    thread = threading.Thread(target=beat)
    thread.start()
    try:
        with pytest.raises(BitcipherError, match=r"Another job is running on .* \(on far"):
            Lease(base_uri).__enter__()
    finally:
        ended.set()
        thread.join()


def test_lease_released_during_the_wait_is_acquired(base_uri):
    write_remote_holder(base_uri, seconds_ago=3_600)
    end = threading.Timer(0.5, write_remote_holder, (base_uri, 3_600, 4, True))
    end.start()
    with Lease(base_uri) as mine:
        mine.check()
    end.join()


UNREADABLE = [b"", bytes(200), b'{"owner": ', b'{"host": "of another version"}']


def write_unreadable(build, content):
    with storage.writing(storage.join(build, "lease/000004.json")) as stream:
        stream.write(content)


@pytest.mark.parametrize("content", UNREADABLE, ids=["empty", "zeros", "truncated", "other fields"])
def test_unreadable_lease_is_replaced_after_it_expires(base_uri, content):
    write_unreadable(base_uri, content)
    assert Lease(base_uri).holder() is None
    began = time.monotonic()
    with lease_of_expired_holder(base_uri) as mine:
        mine.check()
        assert time.monotonic() - began >= SHORT_EXPIRY
        assert list(storage.list_files(storage.join(base_uri, "lease"))) == ["000005.json"]


def test_unreadable_lease_of_a_live_holder_is_not_replaced(base_uri):
    with held_by_another_process(base_uri) as process:
        (name,) = storage.list_files(storage.join(base_uri, "lease"))
        with storage.writing(storage.join(base_uri, "lease", name)) as stream:
            stream.write(b"")
        with pytest.raises(BitcipherError, match="Another job is running on"):
            Lease(base_uri).__enter__()
        output, _ = process.communicate("check\n", timeout=30)
        assert output == ""


def test_unreadable_lease_whose_content_changes_is_not_replaced(base_uri):
    write_unreadable(base_uri, b'{"beat of another version": 1}')
    beat = threading.Timer(0.5, write_unreadable, (base_uri, b'{"beat of another version": 2}'))
    beat.start()
    with pytest.raises(BitcipherError, match="Another job is running on"):
        Lease(base_uri).__enter__()
    beat.join()


def test_outage_of_the_store_raises_until_the_next_heartbeat(s3, faulty_s3, monkeypatch):
    monkeypatch.setattr(lease, "EXPIRY_SECONDS", SHORT_EXPIRY)
    with Lease(s3) as mine:
        faulty_s3.plan = [Fault("SlowDown", "PUT")]
        silent = time.monotonic()
        wait_until(lambda: time.monotonic() > silent + SHORT_EXPIRY + HEARTBEAT)
        with pytest.raises(BitcipherError, match=r"could not write to s3://.*/lease for \d+ s"):
            mine.check()
        faulty_s3.plan = []
        wait_until(mine.is_held)


def race(build, rounds, start, end, results):
    won = []
    for _ in range(rounds):
        start.wait()
        mine = Lease(build)
        try:
            mine.__enter__()
        except BitcipherError as error:
            assert "Another job is running" in str(error)  # noqa: PT017
            won.append(False)
        else:
            won.append(True)
        end.wait()
        if won[-1]:
            mine.__exit__(None, None, None)
    results.put(won)


def test_only_one_of_several_processes_gets_the_lease(base_uri):
    context = multiprocessing.get_context("spawn")
    rounds, racers = 5, 2
    start, end, results = context.Barrier(racers), context.Barrier(racers), context.Queue()
    processes = [context.Process(target=race, args=(base_uri, rounds, start, end, results)) for _ in range(racers)]
    for process in processes:
        process.start()
    won = [results.get(timeout=60) for _ in processes]
    for process in processes:
        process.join()
    assert [sum(each) for each in zip(*won, strict=True)] == [1] * rounds


HOLD = f"""
import sys
from bitcipher.errors import BitcipherError
from pipelines.store import lease

lease.HEARTBEAT_SECONDS, lease.EXPIRY_SECONDS = {HEARTBEAT}, {EXPIRY}
with lease.Lease(sys.argv[1]) as mine:
    print("held", flush=True)
    sys.stdin.readline()
    try:
        mine.check()
    except BitcipherError as error:
        print(error)
"""


@contextmanager
def held_by_another_process(build):
    """Process that holds the lease and checks it on request."""
    command = [sys.executable, "-c", HOLD, build]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "held\n"
        try:
            yield process
        finally:
            process.kill()


def test_killed_holder_on_this_machine_is_replaced_immediately(base_uri, monkeypatch):
    with held_by_another_process(base_uri) as process:
        process.kill()
        process.wait()
        monkeypatch.setattr(lease, "EXPIRY_SECONDS", 3_600)  # too long to wait for
        with Lease(base_uri) as mine:
            mine.check()


def test_suspended_holder_that_was_replaced_raises(base_uri):
    with held_by_another_process(base_uri) as process:
        process.send_signal(signal.SIGSTOP)
        beat = datetime.fromisoformat(holder(base_uri)["time"]).timestamp()
        wait_until(lambda: time.time() > beat + SHORT_EXPIRY)
        with lease_of_expired_holder(base_uri) as mine:
            process.send_signal(signal.SIGCONT)
            output, _ = process.communicate("check\n", timeout=30)
            assert output.startswith(f"Another job has taken over {base_uri}")
            mine.check()
        assert holder(base_uri)["released"]

"""Who is at work on a build: one job at a time, and another as soon as that one has ended or died.

The files lease/000001.json, lease/000002.json, … of a build are generations: the highest names the holder. A file
is created only where there is none, so of several jobs that want the next generation one gets it. The holder
rewrites its own file every few seconds; a job that finds the beats at rest takes the next generation. The former
holder, if it only slept, finds the higher generation before it publishes anything.
"""

import contextlib
import os
import socket
import threading
import time
import uuid
from datetime import UTC, datetime
from types import TracebackType
from typing import Any

from bitcipher import storage
from bitcipher.errors import BitcipherError

FOLDER = "lease"
FIELDS = {"owner", "host", "machine", "pid", "started", "beat", "time", "released"}
# Between two beats of the holder.
HEARTBEAT_SECONDS = 5.0
# Without a beat for this long a holder counts as dead: four beats, so that a store's hiccup ends no job.
EXPIRY_SECONDS = 20.0
# Looks at a silent holder's file within that time.
LOOKS = 8


class Lease:
    """The right to work on a build, held while the block runs.

    Args:
        build: the build's folder.

    Raises:
        BitcipherError: on entering, if another job is at work there, or the folder cannot be written.

    Examples:
        >>> with Lease("memory://doctest/build") as lease:
        ...     lease.check()  # before anything is published
    """

    def __init__(self, build: str):
        self._build = build
        self._folder = storage.join(build, FOLDER)
        self._ended = threading.Event()

    def __enter__(self) -> "Lease":
        generation, holder = self._highest()
        if holder is not None and not holder["released"] and not _is_dead(holder):
            self._wait_for_silence(generation, holder)
        self._generation = generation + 1
        self._content = {
            "owner": uuid.uuid4().hex,
            "host": socket.gethostname(),
            "machine": _machine(),
            "pid": os.getpid(),
            "started": _now(),
            "beat": 0,
            "time": _now(),
            "released": False,
        }
        self._beaten = time.monotonic()
        created = storage.create(self._file(self._generation), storage.to_json(self._content))
        highest, holder = self._highest()
        if not created or highest != self._generation:
            # The second: the one who got this generation has ended meanwhile, and the next one removed its file.
            if created:
                storage.remove(self._file(self._generation))
            raise self._occupied(holder)
        for generation in self._generations():
            if generation < self._generation:
                storage.remove(self._file(generation))
        self._thread = threading.Thread(target=self._beat_on, name="lease", daemon=True)
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._ended.set()
        self._thread.join(EXPIRY_SECONDS)
        # If the store does not answer now, the lease expires by itself; the block's own error is the one to tell.
        with contextlib.suppress(BitcipherError):
            if self._is_highest():
                self._write(released=True)

    def is_held(self) -> bool:
        """Whether this job still holds the lease."""
        return self._is_highest() and self._silence() <= EXPIRY_SECONDS

    def check(self) -> None:
        """Make sure that this job still holds the lease: to be called before anything is published.

        Raises:
            BitcipherError: if another job has taken over, or could have, since no beat was written for too long.
        """
        if not self._is_highest():
            raise BitcipherError(
                f"Another job has taken over {self._build}, since this one gave no sign of life for too long: "
                "leave the build to it; what this job had done until then is kept."
            )
        silence = self._silence()
        if silence > EXPIRY_SECONDS:
            raise BitcipherError(
                f"This job could not write to {self._folder} for {silence:.0f} s, so that another one may take over: "
                "look whether there is room and the right to write, then run this again; what is done is kept."
            )

    def _beat_on(self) -> None:
        while not self._ended.wait(HEARTBEAT_SECONDS):
            # A store that does not answer may do so next time; `check` sees for how long it did not.
            with contextlib.suppress(BitcipherError):
                if not self._is_highest():
                    return
                self._write(released=False)

    def _write(self, *, released: bool) -> None:
        began = time.monotonic()
        self._content |= {"beat": self._content["beat"] + 1, "time": _now(), "released": released}
        storage.write_json(self._file(self._generation), self._content)
        self._beaten = began  # others may have read the beat from then on

    def _wait_for_silence(self, generation: int, holder: dict[str, Any]) -> None:
        """Watch a holder whose last beat is old, or from a clock that differs, for as long as a beat may take."""
        if abs(time.time() - datetime.fromisoformat(holder["time"]).timestamp()) < EXPIRY_SECONDS:
            raise self._occupied(holder)
        end = time.monotonic() + EXPIRY_SECONDS
        while time.monotonic() < end:
            time.sleep(EXPIRY_SECONDS / LOOKS)
            now = self._highest()
            if now[0] == generation and now[1]["released"]:
                return
            if now != (generation, holder):
                raise self._occupied(now[1])

    def holder(self) -> dict[str, Any] | None:
        """Who holds the lease now, this job or another: owner, host, pid, started, time of the last beat, or None."""
        _, holder = self._highest()
        return None if holder is None or holder["released"] or _is_dead(holder) else holder

    def _highest(self) -> tuple[int, dict[str, Any] | None]:
        """The highest generation with its content: 0 and None if nobody ever worked here."""
        while generations := self._generations():
            uri = self._file(max(generations))
            content = storage.read_bytes(uri)
            if content is None:  # removed just now, because there is a higher one
                continue
            holder = storage.from_json(content, uri)
            if not holder.keys() >= FIELDS:
                raise BitcipherError(f"{uri} does not say who is at work: if nobody is, remove it.")
            return max(generations), holder
        return 0, None

    def _is_highest(self) -> bool:
        return max(self._generations(), default=0) == self._generation

    def _silence(self) -> float:
        """Seconds since the last beat, by a clock that also goes on while this process sleeps."""
        return time.monotonic() - self._beaten

    def _generations(self) -> list[int]:
        names = [name.removesuffix(".json") for name in storage.list_files(self._folder)]
        return [int(name) for name in names if name.isdecimal()]

    def _file(self, generation: int) -> str:
        return storage.join(self._folder, f"{generation:06d}.json")

    def _occupied(self, holder: dict[str, Any] | None) -> BitcipherError:
        who = "" if holder is None else f" (on {holder['host']}, process {holder['pid']}, since {holder['started']})"
        return BitcipherError(f"Another job is at work on {self._build}{who}: wait for it, or end it.")


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")


def _machine() -> str:
    """What tells this machine, and the part of it where process numbers are ours, from all others.

    On Linux hosts' names do not: containers may share one, and do not see each other's processes.
    """
    try:
        with open("/proc/sys/kernel/random/boot_id") as file:
            return f"{file.read().strip()} {os.readlink('/proc/self/ns/pid')}"
    except OSError:
        return socket.gethostname()


def _is_dead(holder: dict[str, Any]) -> bool:
    """Whether the holder ran on this very machine and is gone: then nobody need wait for its silence."""
    if holder["machine"] != _machine():
        return False
    try:
        os.kill(holder["pid"], 0)
    except ProcessLookupError:
        return True
    except PermissionError:
        pass
    return False

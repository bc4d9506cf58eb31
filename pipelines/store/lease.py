"""Lease on a build: the right to write to it, held by one job at a time.

The files lease/000001.json, lease/000002.json, … of a build are the generations of its lease. The file with the highest
number names the holder. A file is created only if it does not exist, so only one of several jobs can create the next
generation. The holder rewrites its file every few seconds (the heartbeat). If a job finds no heartbeat for
`EXPIRY_SECONDS`, it creates the next generation. A former holder that was suspended checks the generation before it
publishes, finds the higher one, and stops.

A file that cannot be read, such as an empty one after a power cut, has a holder that is unknown. If it is alive, its
next heartbeat changes the file, so the same wait decides.
"""

import contextlib
import os
import re
import socket
import threading
import time
import uuid
from datetime import UTC, datetime
from types import TracebackType

from pydantic import Field

from bitcipher.errors import BitcipherError
from bitcipher.files import json_files, storage
from bitcipher.files.records import Count, Record, Time
from pipelines.store.layout import LEASE

HEARTBEAT_SECONDS = 5.0
# Time without a heartbeat after which a holder counts as dead: four heartbeats, so that a short outage of the store
# does not end a job.
EXPIRY_SECONDS = 20.0
# Number of times that a waiting job reads the file of the holder before the lease expires.
POLLS = 8
# Name of the file of a generation. Other files in the folder are left alone.
GENERATION = re.compile(r"([0-9]{6,})\.json")
# Name of a file that was not written completely.
_UNFINISHED = re.compile(rf"{GENERATION.pattern}\.[0-9a-f]{{32}}{re.escape(storage.UNFINISHED)}")


class LeaseHolder(Record):
    """The job that holds, or held, a lease."""

    owner: str
    """Unique id of the job."""
    host: str
    machine: str
    """Id of the machine and its process namespace (see `_machine`)."""
    pid: int = Field(ge=1)
    started: Time
    beat: Count
    """Number of the last heartbeat."""
    time: Time
    """Time of the last heartbeat, by the holder's clock."""
    released: bool
    """Whether the job has ended."""


class Lease:
    """Exclusive right to change a build, held while the block runs.

    Args:
        build: folder of the build.
        name: folder of the generations, below that of the build.

    Raises:
        BitcipherError: on entering, if another job holds the lease, or the folder cannot be written.

    Examples:
        >>> with Lease("memory://doctest/build") as lease:
        ...     lease.check()  # before anything is published
    """

    def __init__(self, build: str, name: str = LEASE):
        self._build = build
        self._name = name
        self._folder = storage.join(build, name)
        self._ended = threading.Event()
        self._is_discarded = False

    def __enter__(self) -> "Lease":
        generation, holder = self._highest()
        if isinstance(holder, bytes) or (holder is not None and not holder.released and not _is_dead(holder)):
            self._wait_for_silence(generation, holder)
        self._generation = generation + 1
        self._content = LeaseHolder(
            owner=uuid.uuid4().hex,
            host=socket.gethostname(),
            machine=_machine(),
            pid=os.getpid(),
            started=_now(),
            beat=0,
            time=_now(),
            released=False,
        )
        self._last_beat = time.monotonic()
        created = storage.create(self._file(self._generation), json_files.to_checked_bytes(self._content.to_dict()))
        highest, holder = self._highest()
        if not created or highest != self._generation:
            # This file could be created, although a higher generation exists: the file of the former holder of this
            # generation was already removed.
            if created:
                storage.remove(self._file(self._generation))
            raise self._occupied(holder)
        for generation in list_generations(self._build, self._name):
            if generation < self._generation:
                storage.remove(self._file(generation))
        self._thread = threading.Thread(target=self._send_heartbeats, name="lease", daemon=True)
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._ended.set()
        self._thread.join(EXPIRY_SECONDS)
        # Errors are ignored, because they would hide the error of the block. Without this file, the lease expires.
        with contextlib.suppress(BitcipherError):
            if self._is_highest() and self._is_discarded:
                storage.remove(self._file(self._generation))
            elif self._is_highest():
                self._write(released=True)
            self._remove_unfinished()

    @property
    def is_first(self) -> bool:
        """Whether no earlier job has held the lease."""
        return self._generation == 1

    def discard(self) -> None:
        """Remove the file of the lease when the block ends. Call it if the job is the first and leaves no files."""
        self._is_discarded = True

    def is_held(self) -> bool:
        """Return whether this job still holds the lease."""
        return self._is_highest() and self._silence() <= EXPIRY_SECONDS

    def check(self) -> None:
        """Check that this job still holds the lease. Call it before anything is published.

        Raises:
            BitcipherError: if another job has taken over the build, or the lease has expired.
        """
        if not self._is_highest():
            raise BitcipherError(
                f"Another job has taken over {self._build}, because this job sent no heartbeat for too long. Let the "
                "other job finish; it continues from the finished work."
            )
        silence = self._silence()
        if silence > EXPIRY_SECONDS:
            raise BitcipherError(
                f"This job could not write to {self._folder} for {silence:.0f} s, so another job may have taken over. "
                "Check free space and write permission, then run the same command again to resume."
            )

    def _send_heartbeats(self) -> None:
        while not self._ended.wait(HEARTBEAT_SECONDS):
            # Errors are ignored, because the next heartbeat can succeed. `check` raises an error if no heartbeat has
            # succeeded for `EXPIRY_SECONDS`.
            with contextlib.suppress(BitcipherError):
                if not self._is_highest():
                    return
                self._write(released=False)

    def _write(self, *, released: bool) -> None:
        began = time.monotonic()
        update = {"beat": self._content.beat + 1, "time": _now(), "released": released}
        self._content = self._content.model_copy(update=update)
        json_files.write(self._file(self._generation), self._content.to_dict())
        self._last_beat = began  # the earliest time at which other jobs can have read it

    def _wait_for_silence(self, generation: int, holder: LeaseHolder | bytes) -> None:
        """Wait until the lease of a holder expires, whose last heartbeat seems old by the clock of this machine.

        Args:
            generation: the highest generation.
            holder: its holder, or the content of its file if it cannot be read.

        Raises:
            BitcipherError: if the last heartbeat is recent, or the holder sends a heartbeat.
        """
        if isinstance(holder, LeaseHolder) and _seconds_from_now(holder.time) < EXPIRY_SECONDS:
            raise self._occupied(holder)
        end = time.monotonic() + EXPIRY_SECONDS
        while time.monotonic() < end:
            time.sleep(EXPIRY_SECONDS / POLLS)
            highest, now = self._highest()
            if highest == generation and isinstance(now, LeaseHolder) and now.released:
                return
            if (highest, now) != (generation, holder):
                raise self._occupied(now)

    def holder(self) -> LeaseHolder | None:
        """Return the job that holds the lease now, or None. A file that cannot be read names no job."""
        _, holder = self._highest()
        return holder if isinstance(holder, LeaseHolder) and not holder.released and not _is_dead(holder) else None

    def _highest(self) -> tuple[int, LeaseHolder | bytes | None]:
        """Return the highest generation and its holder; 0 and None if there is no generation.

        If the file of the generation cannot be read, its content takes the place of the holder.
        """
        while generations := list_generations(self._build, self._name):
            uri = self._file(max(generations))
            content = storage.read_bytes(uri)
            if content is None:  # just removed by the holder of a higher generation
                continue
            try:
                return max(generations), LeaseHolder.parse(json_files.parse(content, uri), uri)
            except BitcipherError:
                return max(generations), content
        return 0, None

    def _is_highest(self) -> bool:
        return max(list_generations(self._build, self._name), default=0) == self._generation

    def _silence(self) -> float:
        """Return the seconds since the last heartbeat, including time in which this process was suspended."""
        return time.monotonic() - self._last_beat

    def _remove_unfinished(self) -> None:
        """Remove the files of this and earlier generations that a killed process did not write completely."""
        for name in storage.list_files(self._folder, unfinished=True):
            match = _UNFINISHED.fullmatch(name)
            if match and int(match[1]) <= self._generation:
                storage.remove(storage.join(self._folder, name))

    def _file(self, generation: int) -> str:
        return storage.join(self._folder, f"{generation:06d}.json")

    def _occupied(self, holder: LeaseHolder | bytes | None) -> BitcipherError:
        is_known = isinstance(holder, LeaseHolder)
        who = f" (on {holder.host}, process {holder.pid}, since {holder.started})" if is_known else ""
        return BitcipherError(f"Another job is running on {self._build}{who}. Wait until it ends, or stop it.")


def list_generations(build: str, name: str = LEASE) -> list[int]:
    """Return the generations of the lease of a build, which has none if no job has begun in its folder."""
    names = storage.list_files(storage.join(build, name))
    return [int(match[1]) for name in names if (match := GENERATION.fullmatch(name))]


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")


def _machine() -> str:
    """Return an id of this machine and process namespace.

    A host name is not enough, because containers with the same host name do not see each other's processes.
    """
    try:
        with open("/proc/sys/kernel/random/boot_id") as file:
            return f"{file.read().strip()} {os.readlink('/proc/self/ns/pid')}"
    except OSError:
        return socket.gethostname()


def _is_dead(holder: LeaseHolder) -> bool:
    """Return whether the holder ran on this machine and its process no longer exists."""
    if holder.machine != _machine():
        return False
    try:
        os.kill(holder.pid, 0)
    except ProcessLookupError:
        return True
    except PermissionError:
        pass
    return False


def _seconds_from_now(moment: str) -> float:
    """Return the distance of a time, past or future, from the clock of this machine."""
    return abs(time.time() - datetime.fromisoformat(moment).timestamp())

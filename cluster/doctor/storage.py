"""Checks of the storage that builds are to be written to."""

import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from bitcipher import storage
from bitcipher.errors import BitcipherError
from cluster.doctor.clock import check_clock
from cluster.doctor.finding import CheckResult, ok, problem
from cluster.doctor.machine import check_disk

PROBE = "probe.txt"
CONTENT = b"bitcipher doctor\n"
OTHER_CONTENT = b"a second writer\n"


def check_target(target: str) -> list[CheckResult]:
    """Whether we may list, create exclusively, read back and remove; room on a disk; and the store's clock.

    Nothing of it stays.
    """
    try:
        return _check(target)
    except BitcipherError as error:
        return [problem("target", f"{error} Check the name, and the rights of those who run the job.")]
    except Exception as error:  # every store and its client has errors of its own
        return [problem("target", f"Cannot use {target} ({error}): check the name and your access to it.")]


@contextmanager
def probe_folder(target: str) -> Iterator[str]:
    """A folder at the target to try things in, since listing the target itself might take long.

    It is removed again, and so are the target's folders that were not there.
    """
    local = storage.local_path(target)
    missing = [each for each in (Path(local), *Path(local).parents) if not each.exists()] if local else []
    folder = storage.join(target, f"doctor-{uuid.uuid4().hex}")
    try:
        yield folder
    finally:
        # What cannot be removed must not hide why the block failed.
        with suppress(Exception):
            storage.remove(folder)
            for each in missing:
                each.rmdir()


def _check(target: str) -> list[CheckResult]:
    with probe_folder(target) as folder:
        probe = storage.join(folder, PROBE)
        findings = [_rights(target, folder, probe)]
        written = _time_of_writing(probe)
        if written is not None:
            findings.append(check_clock("target's clock", written, time.time(), "the target"))
        local = storage.local_path(target)
        if local:
            findings.append(check_disk("target's disk", local))
    if storage.exists(probe):
        findings.append(problem("target", f"Cannot remove what was written at {target}: allow that too."))
    return findings


def _rights(target: str, folder: str, probe: str) -> CheckResult:
    if not storage.create(probe, CONTENT) or storage.create(probe, OTHER_CONTENT):
        return problem(
            "target",
            f"{target} does not keep of two writers the first: use storage with conditional writes, as S3 has them.",
        )
    if storage.read_bytes(probe) != CONTENT or list(storage.list_files(folder)) != [PROBE]:
        return problem("target", f"{target} does not show at once what was written: use storage that is consistent.")
    return ok("target", f"{target} can be listed, written, read and cleared, and of two writers the first wins.")


def _time_of_writing(uri: str) -> float | None:
    """When a file was written by the store's own clock, in seconds since 1970, if the store tells."""
    filesystem, path = storage.url_to_fs(uri)
    try:
        return filesystem.modified(path).timestamp()
    except NotImplementedError:
        return None

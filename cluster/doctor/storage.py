"""Checks of the storage that builds will be written to."""

import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from bitcipher.errors import BitcipherError
from bitcipher.files import storage
from cluster.doctor.check_result import CheckResult, ok, problem
from cluster.doctor.clock import check_clock
from cluster.doctor.machine import check_disk

PROBE = "probe.txt"
CONTENT = b"bitcipher doctor\n"
OTHER_CONTENT = b"a second writer\n"


def check_target(target: str) -> list[CheckResult]:
    """Check access to a target (list, create without overwriting, read, remove), its free disk space, and its clock.

    The files of the check are removed.

    Args:
        target: path or URI of a directory for builds.
    """
    try:
        return _check(target)
    except BitcipherError as error:
        return [problem("target", f"{error} Check the name, and the permissions of the job.")]
    except Exception as error:  # clients of stores have no common class of errors
        return [problem("target", f"Cannot use {target} ({error}): check the name and your access to it.")]


@contextmanager
def probe_folder(target: str) -> Iterator[str]:
    """Yield the URI of a new directory inside the target for tests, since listing the whole target can take long.

    The directory is removed afterwards, and so are the target and its parent directories if they did not exist.
    """
    local = storage.local_path(target)
    missing = [each for each in (Path(local), *Path(local).parents) if not each.exists()] if local else []
    folder = storage.join(target, f"doctor-{uuid.uuid4().hex}")
    try:
        yield folder
    finally:
        # An error of the removal must not hide an error of the block.
        with suppress(Exception):
            storage.remove(folder)
            for each in missing:
                each.rmdir()


def _check(target: str) -> list[CheckResult]:
    with probe_folder(target) as folder:
        probe = storage.join(folder, PROBE)
        results = [_check_permissions(target, folder, probe)]
        written = _modification_time(probe)
        if written is not None:
            results.append(check_clock("target's clock", written, time.time(), "the target"))
        local = storage.local_path(target)
        if local:
            results.append(check_disk("target's disk", local))
    if storage.exists(probe):
        results.append(problem("target", f"Cannot remove files at {target}: allow deletion, too."))
    return results


def _check_permissions(target: str, folder: str, probe: str) -> CheckResult:
    if not storage.create(probe, CONTENT) or storage.create(probe, OTHER_CONTENT):
        return problem(
            "target",
            f"{target} lets a second writer replace a file: use storage with conditional writes, such as S3.",
        )
    if storage.read_bytes(probe) != CONTENT or list(storage.list_files(folder)) != [PROBE]:
        return problem("target", f"{target} does not show new files at once: use strongly consistent storage.")
    return ok("target", f"{target} can be listed, written, read and cleared, and the first of two writers wins.")


def _modification_time(uri: str) -> float | None:
    """Return the time at which the store wrote a file, in seconds since 1970, or None if it is not reported."""
    filesystem, path = storage.url_to_fs(uri)
    try:
        return filesystem.modified(path).timestamp()
    except NotImplementedError:
        return None

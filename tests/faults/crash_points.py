"""Script that crashes builds and updates at every call that changes the build directory.

Every change of a file name passes through a few functions of `os`. A forked child makes the version and exits abruptly
right before its k-th such call, for k = 1, 2, …, until one child completes. A crash after a call is equivalent to a
crash before the next one, because no reader sees what is written to a file before the file is flushed, renamed or
linked.

    python crash_points.py FOLDER STEP OLD… -- NEW…

FOLDER is the directory of the builds. Each STEP-th call is tested. OLD are the sources of the first version, NEW those
of the update; without OLD, the first version itself is tested. The script prints one line of JSON: the number of calls,
the number of tested calls, and how often each version was the newest afterwards.
"""

import json
import os
import shutil
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from builds import digests, run_build, run_update
from commands import left_over

from bitcipher.versions import versions

CHANGING = ("mkdir", "fsync", "replace", "rename", "link", "remove", "unlink", "rmdir")
CRASHED = 77


def crash_at(number: int) -> Callable[[], int]:
    """Make the process exit at its `number`-th change; return a function that counts the changes so far."""
    seen = 0

    def counted(change: Callable[..., Any]) -> Callable[..., Any]:
        def change_or_crash(*arguments: Any, **named: Any) -> Any:
            nonlocal seen
            seen += 1
            if seen == number:
                os._exit(CRASHED)
            return change(*arguments, **named)

        return change_or_crash

    for name in CHANGING:
        setattr(os, name, counted(getattr(os, name)))
    return lambda: seen


def crash(make: Callable[[], None], number: int) -> int:
    """Make a version in a child process; return the number of changes if it completed, else 0."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        changes = crash_at(number)
        make()
        os.write(write, str(changes()).encode())
        os._exit(0)
    os.close(write)
    with os.fdopen(read) as stream:
        output = stream.read()
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    check(code in (0, CRASHED), f"the job that was to crash at change {number} ended with {code}")
    return int(output or 0)


def main() -> None:
    """Test every STEP-th change."""
    place, step, *sources = sys.argv[1:]
    old, new = sources[: sources.index("--")], sources[sources.index("--") + 1 :]
    before, build = Path(place, "before"), Path(place, "build")
    right = {}
    before.mkdir(parents=True)
    if old:
        run_build(old, before)
        right[1] = digests(before)
    run_build([*old, *new], Path(place, "whole"))
    right[len(right) + 1] = digests(Path(place, "whole"))

    def make() -> None:
        if versions(str(build)):
            run_update(build, [*old, *new])
        else:
            run_build([*old, *new], build)

    figures: Counter[str] = Counter()
    number, changes = 1, 0
    while not changes:
        shutil.copytree(before, build)
        changes = crash(make, number)
        published = versions(str(build))
        check(published in ([*right], [*right][:-1]), f"after a crash at {number}, there are versions {published}")
        for version in published:
            check(digests(build, version) == right[version], f"after a crash at {number}, version {version} differs")
        if not changes:
            figures["tried"] += 1
            figures[f"version {max(published, default=0)}"] += 1
        make()
        check(versions(str(build)) == [*right], f"resumed after a crash at {number}, there is no new version")
        for version in right:
            check(digests(build, version) == right[version], f"resumed after {number}, version {version} differs")
        check(not left_over(build), f"resumed after a crash at {number}, there is left {left_over(build)}")
        shutil.rmtree(build)
        number += int(step)
    print(json.dumps({"changes": changes, **figures}))


def check(holds: bool, otherwise: str) -> None:
    """Exit with an error message unless a condition holds."""
    if not holds:
        raise SystemExit(otherwise)


if __name__ == "__main__":
    main()

"""Script that crashes builds and updates at every call that changes the build directory.

Every change of a file name passes through a few functions of `os`. A forked child makes the version and exits abruptly
right before its k-th such call, for k = 1, 2, …, until one child completes. A crash after a call is equivalent to a
crash before the next one, because no reader sees the content of a file before the file is flushed, renamed or
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

from builds import OPTIONS, digests, run_build, run_update
from change_faults import CRASHED, crash_at
from commands import unreferenced_files

from bitcipher.table import vector_files
from bitcipher.versions import versions
from pipelines.runtime import memory_budget

# Bytes of memory per word, as if they were many: words are added up in ranges of a few hundred words.
memory_budget.BYTES_PER_SUMMED_WORD = 1 << 19

# Bytes of memory per pair, as if they were many: segments are merged and vectors are made in several ranges of words.
# Vectors are written in several files.
memory_budget.BYTES_PER_WEIGHTED_ENTRY = 1 << 40
memory_budget.BYTES_PER_MERGED = memory_budget.BYTES_PER_ENTRY = 1 << 10
vector_files.PAGE_BYTES = 1 << 12
vector_files.MAX_FILE_BYTES = 1 << 20
MANY_PAGES = OPTIONS.derive({"vector_size": 200})


def run_and_crash(make: Callable[[], None], number: int) -> int:
    """Make a version in a child process. Return the number of changes if the process completed, else 0."""
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
    check(code in (0, CRASHED), f"the job that should crash at change {number} ended with code {code}")
    return int(output or 0)


def main() -> None:
    """Test every STEP-th change."""
    folder, step, *sources = sys.argv[1:]
    old, new = sources[: sources.index("--")], sources[sources.index("--") + 1 :]
    before, build = Path(folder, "before"), Path(folder, "build")
    expected = {}
    before.mkdir(parents=True)
    if old:
        run_build(old, before, MANY_PAGES)
        expected[1] = digests(before)
    run_build([*old, *new], Path(folder, "whole"), MANY_PAGES)
    expected[len(expected) + 1] = digests(Path(folder, "whole"))

    def make() -> None:
        if versions(str(build)):
            run_update(build, [*old, *new])
        else:
            run_build([*old, *new], build, MANY_PAGES)

    measurements: Counter[str] = Counter()
    number, changes = 1, 0
    while not changes:
        shutil.copytree(before, build)
        changes = run_and_crash(make, number)
        published = versions(str(build))
        check(published in ([*expected], [*expected][:-1]), f"after a crash at {number}, the versions are {published}")
        for version in published:
            check(digests(build, version) == expected[version], f"after a crash at {number}, version {version} differs")
        if not changes:
            measurements["tested"] += 1
            measurements[f"version {max(published, default=0)}"] += 1
        make()
        check(versions(str(build)) == [*expected], f"resumed after a crash at {number}, there is no new version")
        for version in expected:
            check(digests(build, version) == expected[version], f"resumed after {number}, version {version} differs")
        unreferenced = unreferenced_files(build)
        check(not unreferenced, f"resumed after a crash at {number}, these files are unreferenced: {unreferenced}")
        shutil.rmtree(build)
        number += int(step)
    print(json.dumps({"changes": changes, **measurements}))


def check(condition: bool, message: str) -> None:
    """Exit with an error message unless a condition holds."""
    if not condition:
        raise SystemExit(message)


if __name__ == "__main__":
    main()

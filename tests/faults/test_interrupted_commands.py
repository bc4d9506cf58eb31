"""Commands that are killed, or that run on a full disk.

After each fault, the same command gives the result of an undisturbed one, nothing is left behind, and the files of the
user in and beside the folder are as they were.
"""

import random
from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
from change_faults import CRASHED, crash_at, fill_disk_at
from forked_commands import ForkedCommand
from target_jobs import JOBS, Job, check_files, clear, prepare, repeat, undisturbed


def count_changes(folder: Path, job: Job, fault: Callable[[int], Callable[[], int]]) -> int:
    """Return the number of changes, or of writes, of an undisturbed job."""
    prepare(folder, job)
    counter: list[Callable[[], int]] = []
    outcome = ForkedCommand(job.arguments, lambda: counter[0](), lambda: counter.append(fault(2**60))).wait()
    clear(folder)
    return outcome.result


@pytest.mark.parametrize("most", [pytest.param(3, marks=pytest.mark.long), pytest.param(500, marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", JOBS)
def test_killed_commands_are_repeated(job_folder, print_measurement, name, most):
    job, found = JOBS[name], Counter()
    expected = undisturbed(job_folder, job)
    changes = count_changes(job_folder, job, crash_at)
    for number in random.Random(name).sample(range(1, changes + 1), min(most, changes)):
        mine = prepare(job_folder, job)
        killed = ForkedCommand(job.arguments, before=partial(crash_at, number)).wait()
        assert killed.code in (0, CRASHED)  # a heartbeat of the lease is a change, too, so their number varies
        found[repeat(job_folder, job, expected) if killed.code else "not reached"] += 1
        check_files(job_folder, mine)
        clear(job_folder)
    print_measurement(f"{changes} changes, {dict(found)}")


@pytest.mark.parametrize("step", [pytest.param(15, marks=pytest.mark.long), pytest.param(1, marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", JOBS)
def test_full_disks_give_a_sentence(job_folder, print_measurement, name, step):
    job, found = JOBS[name], Counter()
    expected = undisturbed(job_folder, job)
    writes = count_changes(job_folder, job, fill_disk_at)
    for number in range(1, writes + 1, step):
        mine = prepare(job_folder, job)
        outcome = ForkedCommand(job.arguments, before=partial(fill_disk_at, number)).wait()
        # After a version is published, only unneeded files are removed.
        assert outcome.code == 0 or (outcome.names("disk is full") and "Traceback" not in outcome.err), outcome
        found["sentence" if outcome.code else "published"] += 1
        repeat(job_folder, job, expected)
        check_files(job_folder, mine)
        clear(job_folder)
    print_measurement(f"{writes} writes, {dict(found)}")

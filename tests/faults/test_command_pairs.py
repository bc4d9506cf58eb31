"""Pairs of commands on one target: the first is stopped (SIGSTOP) while the second runs, and then continues.

Both end with exit code 0, or with 2 and one sentence. Then the command that writes the target gives the result of an
undisturbed one, nothing is left behind, and the files of the user are as they were.
"""

import json
import random
import shutil
from collections import Counter
from dataclasses import replace

import pytest
from forked_commands import run_pair
from target_jobs import FLAGS, JOBS, check_files, clear, newest, prepare, repeat, undisturbed

UPDATE = replace(JOBS["update"], state=newest)
OF_A_BUILD = {
    "update": UPDATE.arguments,
    "build": JOBS["build"].arguments,
    "prune": JOBS["prune"].arguments,
    "prune unfinished": ("prune", "target", "--unfinished"),
    "embed": ("embed", "target", "--mode", "sum", "--out", "vectors"),
    "export": ("export", "target", "--format", "counts", "--out", "counts"),
    "verify": ("verify", "target"),
    "status": ("status", "target"),
}
OF_A_NEW_BUILD = {
    **{name: OF_A_BUILD[name] for name in ("build", "export", "verify", "status")},
    "update": ("update", "target", "0.jsonl", "1.jsonl"),
}
READERS_OF_SOURCES = {
    "build from it": ("build", "target", "--out", "other", *FLAGS),
    "filter of it": ("study", "downscaling", "filter", "target", "--top", "50", "--out", "filtered"),
    "shard of it": ("shard", "target", "--out", "shards"),
    "verify": ("verify", "target"),
}

# The job that writes the target, and the commands that use it.
TARGETS = {
    "build": (UPDATE, OF_A_BUILD),
    "new build": (JOBS["build"], OF_A_NEW_BUILD),
    "vectors": (JOBS["embed"], {"embed": JOBS["embed"].arguments, "neighbors": ("neighbors", "target", "the")}),
    "document shards": (JOBS["shard"], {"shard": JOBS["shard"].arguments, **READERS_OF_SOURCES}),
    "filtered corpus": (JOBS["filter"], {"filter": JOBS["filter"].arguments, **READERS_OF_SOURCES}),
}
WRITTEN = ("vectors", "counts", "other", "filtered", "shards")


@pytest.mark.parametrize("runs", [pytest.param(5, marks=pytest.mark.long), pytest.param(256, marks=pytest.mark.slow)])
@pytest.mark.parametrize("target", TARGETS)
def test_command_that_is_stopped_while_another_runs(job_folder, print_measurement, target, runs):
    job, commands = TARGETS[target]
    found, state = Counter(), random.Random(target)
    expected = undisturbed(job_folder, job)
    pairs = [(first, second) for first in commands for second in commands]
    for first, second in state.sample(pairs * 4, min(runs, len(pairs) * 4)):
        mine = prepare(job_folder, job)
        for outcome in run_pair(commands[first], commands[second], state.uniform(0, 0.4), state.choice((0, 0.7))):
            assert outcome.code == 0 or outcome.names(""), (first, second, outcome)
            found[outcome.code] += 1
        repeat(job_folder, job, expected)
        check_files(job_folder, mine)
        for name in WRITTEN:
            shutil.rmtree(job_folder / name, ignore_errors=True)
        clear(job_folder)
    print_measurement(f"{len(pairs)} pairs, exit codes {json.dumps(found)}")

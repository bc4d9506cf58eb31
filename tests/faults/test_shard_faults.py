"""`bitcipher shard` is killed at random moments. The resumed command writes the same bytes."""

import os
import random
import signal
import time
from pathlib import Path

import pytest
from commands import Command
from document_shards import content_of, make_shards

RECIPE = """
shard_mib: 1
keep_dropped: true
memory_mib: 600
rules: [{rule: unicode}, {rule: language, languages: [en, ar], min_score: 0}]
duplicates: {near: {}, paragraphs: {}, host_lines: {}}
"""


@pytest.fixture(scope="module")
def recipe(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("recipe") / "recipe.yaml"
    path.write_text(RECIPE)
    return path


def shard(corpus, out, recipe, log, *arguments, **environment) -> Command:
    return Command("shard", corpus, "--out", out, "--recipe", recipe, *arguments, log=log, **environment)


@pytest.mark.parametrize("most", [pytest.param(4, marks=pytest.mark.long), pytest.param(20, marks=pytest.mark.slow)])
def test_killed_command_resumes_to_the_same_bytes(corpus, recipe, tmp_path, capsys, most):
    start = time.monotonic()
    whole = shard(corpus, tmp_path / "whole", recipe, tmp_path / "log")
    assert whole.wait() == 0, whole.error_output()
    seconds = time.monotonic() - start
    expected = content_of(tmp_path / "whole")
    assert len(expected) > 20
    random_state = random.Random(5)
    out = tmp_path / "killed"
    kills = resumed = 0
    while kills < most:
        is_first, start = not out.exists(), time.monotonic()
        command = shard(corpus, out, recipe, tmp_path / "log")
        # A uniform moment; a later attempt has less work left.
        moment = start + random_state.uniform(0.3, 1) * seconds
        while command.is_running and time.monotonic() < moment:
            time.sleep(0.01)
        if command.is_running:
            command.kill()
            kills += 1
            resumed += any((out / "ledger").rglob("*.json")) if out.exists() else 0
        else:
            assert command.wait() == 0, command.error_output()
            assert content_of(out) == expected
            # The first measurement can be too long, because the machine was busy: then few kills would be in time.
            seconds = min(seconds, time.monotonic() - start) if is_first else seconds
            out = tmp_path / f"killed-{kills}"
    assert shard(corpus, out, recipe, tmp_path / "log").wait() == 0
    assert content_of(out) == expected
    with capsys.disabled():
        print(f"\n{kills} kills, {resumed} with work to resume")


@pytest.mark.long
def test_killed_worker_is_replaced(ray_cluster, corpus, tmp_path):
    options = {"shard_mib": 1, "rules": [{"rule": "unicode"}]}
    make_shards(tmp_path / "here", corpus, **options)
    recipe = tmp_path / "recipe.yaml"
    recipe.write_text("shard_mib: 1\nmemory_mib: 600\nrules: [{rule: unicode}]\n")
    command = shard(
        corpus, tmp_path / "there", recipe, tmp_path / "log", "--workers", 2, RAY_ADDRESS=ray_cluster.cluster
    )
    killed = set()
    while command.is_running and len(killed) < 3:
        for pid in _stage_workers() - killed:
            time.sleep(0.2)
            os.kill(pid, signal.SIGKILL)
            killed.add(pid)
            break
        time.sleep(0.05)
    assert command.wait() == 0, command.error_output()
    assert killed
    here, there = content_of(tmp_path / "here"), content_of(tmp_path / "there")
    del there["report.html"]
    assert here == there


def _stage_workers() -> set[int]:
    """Return the processes of actors that run stages of a Ray Data pipeline."""
    found = set()
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if b"ray::MapWorker" in path.read_bytes():
                found.add(int(path.parent.name))
        except OSError:
            continue
    return found

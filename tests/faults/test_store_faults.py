"""Builds in an S3 store equal builds on disk, even if the store is slow, busy, or unavailable for a while."""

from collections.abc import Callable
from pathlib import Path

import fsspec
import pytest
from builds import Digests, digests, run_build, run_update, write_lines
from commands import Command
from object_store import ENVIRONMENT, Fault, FaultyStore

from bitcipher.errors import BitcipherError
from bitcipher.files import storage
from bitcipher.versions import versions

# HTTP methods that change the store.
WRITES = "PUT POST DELETE"


@pytest.fixture
def files(tmp_path: Path, documents: list[str]) -> list[Path]:
    return [write_lines(tmp_path / f"{i}.jsonl", documents[i * 40 : i * 40 + 40]) for i in range(5)]


@pytest.fixture
def expected(files: list[Path], tmp_path: Path) -> dict[int, Digests]:
    """Digests of builds of the first three, four and all five files, made on disk."""
    for count in (3, 4, 5):
        run_build(files[:count], tmp_path / f"expected{count}")
    return {count: digests(tmp_path / f"expected{count}") for count in (3, 4, 5)}


@pytest.mark.long
def test_object_store_gives_the_bytes_of_a_disk(s3, files, expected, monkeypatch):
    monkeypatch.setattr("pipelines.runtime.memory_budget.BYTES_PER_SUMMED_WORD", 1 << 15)  # ranges of some 1,600 words
    build = storage.join(s3, "build")
    run_build(files[:3], build)
    run_update(build, files[:4])
    run_update(build, files)
    assert [digests(build, version) for version in (1, 2, 3)] == list(expected.values())
    assert not [name for name in storage.list_files(build) if name.startswith(("ledger/", "work/"))]


TEMPORARY_FAULTS = {
    "busy": [Fault("none", times=20), Fault("SlowDown", times=2), Fault("none", times=9), Fault("SlowDown", times=2)],
    "internal errors": [Fault("none", times=15), Fault("InternalError", times=1)],
    "slow": [Fault("slow", seconds=0.02)],
    "silent": [Fault("none", times=15), Fault("hang", times=1)],
    "broken responses": [Fault("none", "GET", times=5), Fault("break", "GET", times=2)],
    "lost responses": [Fault("none", times=20), Fault("lose", "GET HEAD PUT", times=2)],
}


@pytest.mark.long
@pytest.mark.parametrize(
    "kind", [pytest.param(kind, marks=[] if kind == "busy" else [pytest.mark.slow]) for kind in TEMPORARY_FAULTS]
)
def test_builds_are_unaffected_by_a_store_that_recovers(s3, faulty_s3: FaultyStore, files, expected, kind, monkeypatch):
    build = storage.join(s3, "build")
    if kind in ("busy", "internal errors"):  # HEAD requests are only retried with the client settings of bitcipher
        monkeypatch.setitem(fsspec.config.conf, "s3", {"endpoint_url": faulty_s3.address})
    run_build(files[:3], build)
    faulty_s3.plan = [Fault(**vars(fault)) for fault in TEMPORARY_FAULTS[kind]]
    run_update(build, files)
    assert [fault for fault in faulty_s3.plan if 0 < fault.times < float("inf")] == []
    assert digests(build) == expected[5]
    assert digests(build, 1) == expected[3]


@pytest.mark.long
@pytest.mark.parametrize("kind", ["AccessDenied", pytest.param("SlowDown", marks=pytest.mark.slow)])
def test_unreachable_store_raises_and_the_job_resumes_later(s3, faulty_s3: FaultyStore, files, expected, kind):
    build = storage.join(s3, "build")
    run_build(files[:3], build)
    faulty_s3.plan = [Fault("none", WRITES, times=12), Fault(kind, WRITES)]
    with pytest.raises(BitcipherError, match=r"^Cannot \w+ s3://.*run this again\.$"):
        run_update(build, files)
    faulty_s3.plan = []
    assert versions(build) == [1]
    assert digests(build) == expected[3]
    remove_lease(build)
    run_update(build, files)
    assert digests(build) == expected[5]
    assert digests(build, 1) == expected[3]


def remove_lease(build: str) -> None:
    """Remove the lease as if it had expired, because a job without access to the store cannot release it."""
    storage.remove(storage.join(build, "lease"))


def crash_at_writes(s3: str, store: FaultyStore, files: list[Path], expected: dict[int, Digests], step: int) -> dict:
    """Run updates while the store rejects all writes from the k-th on, for each `step`-th k, until one succeeds."""
    base = storage.join(s3, "base")
    run_build(files[:3], base)
    filesystem, path = storage.url_to_fs(base)
    measurements = {"tested": 0, "version 1": 0, "version 2": 0}
    succeeded, number = False, 0
    while not succeeded:
        build = storage.join(s3, f"build{number}")
        for name in storage.list_files(base):
            filesystem.copy(f"{path}/{name}", f"{path[:-4]}build{number}/{name}")
        store.plan = [Fault("none", WRITES, times=number), Fault("AccessDenied", WRITES)]
        store.requests.clear()
        try:
            run_update(build, files)
            succeeded = sum(request.split()[0] in WRITES for request in store.requests) <= number
        except BitcipherError:
            pass
        store.plan = []
        newest = versions(build)[-1]
        measurements[f"version {newest}"] += 1
        measurements["tested"] += 1
        assert digests(build) == (expected[3] if newest == 1 else expected[5])
        remove_lease(build)
        run_update(build, files)
        assert digests(build) == expected[5]
        assert digests(build, 1) == expected[3]
        number += step
    return measurements


@pytest.mark.parametrize("step", [pytest.param(40, marks=pytest.mark.long), pytest.param(2, marks=pytest.mark.slow)])
def test_store_that_fails_at_any_write_leaves_a_complete_version(
    s3, faulty_s3: FaultyStore, files, expected, step, print_measurement: Callable[[str], None]
):
    measurements = crash_at_writes(s3, faulty_s3, files, expected, step)
    print_measurement(", ".join(f"{name} {number}" for name, number in measurements.items()))
    assert measurements["version 1"] > 1
    assert measurements["version 2"] > 0


@pytest.mark.slow
def test_workers_find_the_store_by_the_environment_of_the_job(ray_cluster, s3_server, s3, files, expected, tmp_path):
    """Workers have the environment variables of their node and of the job, not those of the driver's shell."""
    build = storage.join(s3, "build")
    options = ("--tokenizer", "whitespace", "--vector-size", 50, "--shard-mib", 1, "--memory-mib", 600, "--workers", 2)
    with FaultyStore(s3_server) as store:
        variables = {**ENVIRONMENT, "AWS_ENDPOINT_URL": store.address}
        settings = [word for name, value in variables.items() for word in ("--env", f"{name}={value}")]
        submit = ("submit", "--address", ray_cluster.jobs, *settings, "--")
        command = Command(*submit, "build", *files, "--out", build, *options, log=tmp_path / "submit.log")
        assert command.wait() == 0, command.error_output()
        assert [request for request in store.requests if request.startswith("P") and "/shards/" in request]
    assert digests(build) == expected[5]

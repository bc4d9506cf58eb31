"""Workers start when there is enough text for them, and only then. The bytes are the same."""

import json
import os

import pytest
from builds import OPTIONS, digests, run_build
from document_shards import content_of, make_shards

from bitcipher.versions import vectors_of
from pipelines.runtime import auto_runtime
from pipelines.runtime.auto_runtime import MIN_TEXT_BYTES
from pipelines.runtime.open_runtime import open_runtime
from pipelines.runtime.runtime import StageSpec


def processes(runtime):
    """Return the ids of the processes in which a stage runs."""

    class Process:
        def __call__(self, item):
            yield os.getpid()

    return {result.value for result in runtime.stream(StageSpec("process", Process, {}), [1, 2])}


def workers_of(build):
    """Return the number of workers of the job that made a version."""
    report = os.path.join(os.path.dirname(vectors_of(str(build))), "report.json")
    with open(report, encoding="utf-8") as file:
        return json.load(file)["workers"]


def test_stages_run_in_process_until_there_is_enough_text(ray_cluster):
    with open_runtime("auto", 100 << 20) as runtime:
        runtime.expect_text(MIN_TEXT_BYTES - 1)
        assert (runtime.workers, processes(runtime)) == (0, {os.getpid()})
        runtime.expect_text(MIN_TEXT_BYTES)
        assert runtime.workers == 4  # the CPUs of the cluster
        assert os.getpid() not in processes(runtime)
        runtime.expect_text(1)
        assert runtime.workers == 4


def test_no_more_workers_than_the_cluster_has_memory_for(ray_cluster):
    import ray

    memory = int(ray.cluster_resources()["memory"])
    for workers in (1, 2, 3):
        with open_runtime("auto", memory // workers) as runtime:
            runtime.expect_text(MIN_TEXT_BYTES)
            assert runtime.workers == workers


@pytest.mark.parametrize("cores", [1, 2])
def test_one_core_gets_no_workers(monkeypatch, ray_cluster, cores):
    monkeypatch.setattr(auto_runtime, "available_cores", lambda: cores)
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    with open_runtime("auto", 100 << 20) as runtime:
        runtime.expect_text(MIN_TEXT_BYTES)
        assert bool(runtime.workers) == (cores > 1)


def test_build_has_the_same_bytes_with_and_without_workers(ray_cluster, corpus, tmp_path, monkeypatch):
    run_build([corpus], tmp_path / "small", OPTIONS, "auto")
    monkeypatch.setattr(auto_runtime, "MIN_TEXT_BYTES", 1000)
    run_build([corpus], tmp_path / "large", OPTIONS, "auto")
    assert (workers_of(tmp_path / "small"), workers_of(tmp_path / "large")) == (0, 4)
    assert digests(tmp_path / "small") == digests(tmp_path / "large")


@pytest.mark.slow
def test_document_shards_have_the_same_bytes_with_and_without_workers(ray_cluster, corpus, tmp_path, monkeypatch):
    make_shards(tmp_path / "small", corpus, workers="auto")
    monkeypatch.setattr(auto_runtime, "MIN_TEXT_BYTES", 1000)
    make_shards(tmp_path / "large", corpus, workers="auto")
    assert content_of(tmp_path / "small") == content_of(tmp_path / "large")

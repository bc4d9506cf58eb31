"""Random series of updates on kept axes: the bytes of a build of the same sources in the same axes."""

import numpy as np
import pytest
from builds import OPTIONS, run_build, run_update, write_lines

from bitcipher.versions import vectors_of
from pipelines.embed.embed_counts import embed_build
from pipelines.runtime.in_process import InProcessRuntime
from pipelines.runtime.open_runtime import open_runtime
from pipelines.runtime.progress import StageProgress
from pipelines.store.manifest import read_manifest


def use_ranges(monkeypatch):
    """Make vectors in ranges of words, with about 30,000 pairs each."""
    monkeypatch.setattr("pipelines.embed.spectral_vectors.InMemoryProducts", None)
    monkeypatch.setattr("pipelines.runtime.memory_budget.MemoryBudget.weighted_entries", 0)
    monkeypatch.setattr("pipelines.runtime.memory_budget.MemoryBudget.range_entries", 30_000)


def files_of(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.name != "manifest.json"}


@pytest.fixture
def series(documents, request):
    """Files of a build and of three updates by name: random ones are added, and in two updates others are removed."""
    random = np.random.default_rng(request.param)
    texts = random.permutation(documents[:240]).tolist()
    files = {f"{i}.jsonl": texts[i * 30 : (i + 1) * 30] for i in range(8)}
    names = list(files)
    present, versions = names[:3], [names[:3]]
    for number, name in enumerate(names[3:6]):
        kept = random.permutation(present)[: len(present) - (number > 0)].tolist()
        present = [*kept, name, *names[6:][number : number + 1]]
        versions.append(present)
    return [{name: files[name] for name in each} for each in versions]


def write_corpus(folder, files):
    """Make a folder have some files and no others, and return it as sources."""
    folder.mkdir(exist_ok=True)
    for path in folder.iterdir():
        if path.name not in files:
            path.unlink()
    for name, texts in files.items():
        if not (folder / name).exists():
            write_lines(folder / name, texts)
    return [folder]


@pytest.mark.parametrize("series", [0, 1], indirect=True)
def test_versions_equal_builds_of_the_same_sources(series, tmp_path, monkeypatch):
    builds = {name: tmp_path / name for name in ("memory", "ranges")}
    for build in builds.values():
        run_build(write_corpus(tmp_path / "corpus", series[0]), build, OPTIONS)
    for version, files in enumerate(series[1:], 2):
        sources = write_corpus(tmp_path / "corpus", files)
        for name, build in builds.items():
            with monkeypatch.context() as patched:
                if name == "ranges":
                    use_ranges(patched)
                manifest, changes = run_update(build, sources, basis="keep", replace=True)
                assert (manifest["version"], manifest["basis"]["version"]) == (version, 1)
                assert len(changes.vanished) == (version > 2)
        memory, ranges = (build / read_manifest(str(build)).folder / "vectors" for build in builds.values())
        assert files_of(memory) == files_of(ranges)
        scratch, target = tmp_path / f"scratch-{version}", tmp_path / f"vectors-{version}"
        run_build(sources, scratch, OPTIONS, vectors="later")
        earlier = vectors_of(str(builds["memory"]), version - 1)
        embed_build(str(scratch), str(target), {}, 600, InProcessRuntime(2), StageProgress(), basis=earlier)
        assert files_of(target) == files_of(memory)
        manifests = [read_manifest(str(build)).digests for build in (scratch, *builds.values())]
        assert len({(each.words, each.counts) for each in manifests}) == 1


@pytest.mark.parametrize("series", [2], indirect=True)
def test_ray_workers_give_the_bytes_of_memory(ray_cluster, series, tmp_path, monkeypatch):
    builds = [tmp_path / name for name in ("memory", "ray")]
    sources = write_corpus(tmp_path / "corpus", series[0])
    for build in builds:
        run_build(sources, build, OPTIONS)
    sources = write_corpus(tmp_path / "corpus", series[1])
    run_update(builds[0], sources, basis="keep")
    use_ranges(monkeypatch)
    with open_runtime(2, 600 << 20) as runtime:
        run_update(builds[1], sources, basis="keep", runtime=runtime)
    memory, ray = (files_of(build / read_manifest(str(build)).folder / "vectors") for build in builds)
    assert memory == ray

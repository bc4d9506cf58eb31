"""Calibration: measured values, and no temporary files afterwards."""

import tempfile

import pytest
from builds import OPTIONS, run_build, write_lines

from bitcipher.errors import BitcipherError
from pipelines.estimate import embed_trial
from pipelines.estimate.build_cost import Cluster
from pipelines.estimate.build_estimate import EstimateRequest, estimate_build
from pipelines.estimate.calibrate import calibrate
from pipelines.estimate.corpus_laws import build_sizes
from pipelines.estimate.growth_law import Bound
from pipelines.store.stored_versions import StoredVersions

CLUSTER = Cluster(2, 4, 8e9)


@pytest.fixture
def scratch(tmp_path, monkeypatch):
    """Directory of temporary files."""
    folder = tmp_path / "scratch"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


@pytest.fixture
def counted(documents, tmp_path):
    """Build of all documents, with its manifest."""
    source = write_lines(tmp_path / "all.jsonl", documents)
    return tmp_path / "build", run_build([source], tmp_path / "build", OPTIONS.derive({"shard_mib": 64}))


@pytest.mark.long
def test_last_growth_point_equals_the_counts_of_a_build(documents, counted, scratch):
    _, manifest = counted
    found = calibrate(documents, OPTIONS)
    (segment,) = manifest["segments"]
    last = found.points[-1]
    assert (last.tokens, last.types, last.entries) == tuple(segment[name] for name in ("tokens", "types", "entries"))
    assert found.vocabulary == manifest["vocabulary"]
    sizes = [(point.tokens, point.types, point.chunks, point.entries) for point in found.points]
    assert sizes == sorted(sizes)
    assert all(rate >= 0 for rate in vars(found.rates).values())
    assert found.rates.token > 0
    assert not list(scratch.iterdir())


def test_failed_calibration_leaves_no_files(scratch):
    with pytest.raises(BitcipherError, match="too few"):
        calibrate(["a few words"] * 3, OPTIONS)
    assert not list(scratch.iterdir())


@pytest.mark.parametrize("mode", ["cat", "spectral"])
def test_vectors_of_a_sample_have_a_limited_number_of_words(documents, monkeypatch, mode):
    sizes = []

    def open_merged(vocabulary, *arguments):
        sizes.append(len(vocabulary))
        return embed_trial_open(vocabulary, *arguments)

    embed_trial_open = embed_trial.open_merged
    monkeypatch.setattr(embed_trial, "open_merged", open_merged)
    monkeypatch.setattr(embed_trial, "SMALL_WORDS", 50)
    monkeypatch.setattr(embed_trial, "LARGE_WORDS", 80)
    found = calibrate(documents, OPTIONS.derive({"mode": mode}))
    assert set(sizes) == {51, 81}  # with <oov>
    assert found.vocabulary > 81
    assert all(rate >= 0 for rate in vars(found.rates).values())


@pytest.mark.long
def test_estimate_of_a_fully_sampled_corpus_equals_its_counts(counted, scratch, tmp_path):
    build, manifest = counted
    options = {"tokenizer": "whitespace", "shard_mib": 64}
    request = EstimateRequest(sources=(str(tmp_path / "all.jsonl"),), options=options, cluster=CLUSTER)
    found = estimate_build(request)
    cost = found.costs[Bound.POINT]
    assert cost.tokens == pytest.approx(manifest["tokens"], rel=1e-6)
    assert cost.types == pytest.approx(manifest["segments"][0]["types"], rel=1e-6)
    assert cost.entries == pytest.approx(manifest["segments"][0]["entries"], rel=1e-6)
    assert cost.vocabulary == pytest.approx(manifest["vocabulary"], rel=1e-3)
    files = {path: path.stat().st_size for path in (build / "shards").iterdir()}
    assert cost.shard_bytes == pytest.approx(sum(files.values()), rel=0.2)
    assert cost.segment_bytes == cost.shuffle_read == 0
    assert cost.workers == 8
    assert not list(scratch.iterdir())


@pytest.mark.long
def test_estimate_from_a_build_uses_its_options_and_growth(counted):
    build, manifest = counted
    found = estimate_build(EstimateRequest(tokens=1e9, build=str(build), options={"memory_mib": 1000}, cluster=CLUSTER))
    assert found.options.tokenizer == "whitespace"
    assert found.options.memory_mib == 1000
    low, point, high = (found.costs[bound] for bound in (Bound.LOW, Bound.POINT, Bound.HIGH))
    assert low.types <= point.types <= high.types
    assert low.entries <= point.entries <= high.entries
    assert build_sizes(StoredVersions(str(build)).find())[0][0] == pytest.approx(manifest["tokens"])
    with pytest.raises(BitcipherError, match=r"leave out --window\.$"):
        estimate_build(
            EstimateRequest(tokens=1e9, build=str(build), options={"window": 2, "tokenizer": "spacy"}, cluster=CLUSTER)
        )

"""Versions that are published without vectors of their own, and the vectors that a later update makes."""

import pytest
from builds import OPTIONS, digests, run_build, run_update, write_lines

from bitcipher import open_build
from bitcipher.errors import BitcipherError
from bitcipher.vectors.cipher_vectors import CipherVectors
from bitcipher.versions import vectors_of, versions
from pipelines.builds.prune import prune
from pipelines.builds.version_drift import DriftError
from pipelines.count import count_stage
from pipelines.embed.embed_counts import embed_build
from pipelines.options import UpdateOptions
from pipelines.runtime.in_process import InProcessRuntime
from pipelines.runtime.progress import StageProgress
from pipelines.store.manifest import read_manifest
from pipelines.verify.verify import verify

CAT = OPTIONS.derive({"mode": "cat", "bits": 16, "window": 2, "min_count": 2})
KINDS = pytest.mark.parametrize("options", [OPTIONS, CAT], ids=["spectral", "cat"])


@pytest.fixture
def parts(documents, tmp_path):
    """Four files of documents: half of the documents, and three small ones."""
    bounds = (0, 100, 106, 112, 118)
    return [write_lines(tmp_path / f"{i}.jsonl", documents[bounds[i] : bounds[i + 1]]) for i in range(4)]


@pytest.fixture
def hourly(parts, tmp_path):
    """A build with version 1, and versions 2 and 3 without vectors of their own. The fourth file is new."""
    run_build(parts[:1], tmp_path / "hourly", CAT)
    for number in (2, 3):
        run_update(tmp_path / "hourly", parts[:number], vectors="later")
    return tmp_path / "hourly"


def same_digests(one, other):
    """Return whether the newest versions of two builds have the same digests, in manifests and in files."""
    manifests = [read_manifest(str(build)).digests for build in (one, other)]
    return manifests[0] == manifests[1] and digests(one) == digests(other)


@KINDS
def test_vectors_made_later_equal_those_of_a_build_from_scratch(parts, tmp_path, options):
    run_build(parts[:1], tmp_path / "grown", options)
    for number in (2, 3):
        manifest, _ = run_update(tmp_path / "grown", parts[:number], vectors="later")
        run_build(parts[:number], tmp_path / f"scratch-{number}", options)
        counted = read_manifest(str(tmp_path / f"scratch-{number}")).digests
        assert manifest["digests"] == counted.to_dict() | {
            "vectors": read_manifest(str(tmp_path / "grown"), 1).digests.vectors
        }
    manifest, _ = run_update(tmp_path / "grown", parts)
    run_build(parts, tmp_path / "scratch", options)
    assert same_digests(tmp_path / "grown", tmp_path / "scratch")
    assert (manifest["version"], manifest["drift_from"]) == (4, 1)


def test_vectors_made_later_keep_the_basis_of_the_newest_vectors(parts, tmp_path):
    for name in ("hourly", "nightly"):
        run_build(parts[:1], tmp_path / name)
    for number in (2, 3, 4):
        run_update(tmp_path / "hourly", parts[:number], vectors="later")
    hourly, _ = run_update(tmp_path / "hourly", [], basis="auto")
    nightly, _ = run_update(tmp_path / "nightly", parts, basis="auto")
    assert hourly["basis"] == nightly["basis"]
    assert hourly["basis"]["version"] == 1
    assert hourly["drift"] == nightly["drift"]
    assert same_digests(tmp_path / "hourly", tmp_path / "nightly")


def test_version_without_vectors_has_the_newest_vectors_and_its_own_counts(hourly, parts, tmp_path):
    first, newest = (read_manifest(str(hourly), version) for version in (1, 3))
    assert not newest.has_own_vectors
    assert (newest.vectors_from, newest.vectors, newest.basis) == (first.vectors_from, first.vectors, first.basis)
    assert (newest.drift, newest.drift_from) == (None, None)
    assert newest.vocabulary > first.vocabulary
    assert CipherVectors.load(hourly).index_to_key == CipherVectors.load(vectors_of(str(hourly), 1)).index_to_key
    run_build(parts[:3], tmp_path / "scratch", CAT)
    assert open_build(hourly).vocabulary == open_build(tmp_path / "scratch").vocabulary
    assert not (hourly / newest.folder / "vectors").exists()


def test_update_without_sources_makes_the_vectors_of_the_newest_counts(hourly, parts, tmp_path):
    manifest, changes = run_update(hourly, [])
    assert (manifest["version"], changes.new, changes.vanished) == (4, [], [])
    run_build(parts[:3], tmp_path / "scratch", CAT)
    assert same_digests(hourly, tmp_path / "scratch")
    assert run_update(hourly, [])[0]["version"] == 4
    assert run_update(hourly, parts[:3], vectors="later")[0]["version"] == 4


def test_update_with_the_same_sources_makes_the_vectors_of_the_newest_counts(hourly, parts):
    assert run_update(hourly, parts[:3], vectors="later")[0]["version"] == 3
    manifest, _ = run_update(hourly, parts[:3])
    assert (manifest["version"], manifest["vectors_from"]["version"]) == (4, 4)


@KINDS
def test_build_without_vectors(parts, tmp_path, options):
    build = tmp_path / "build"
    manifest = run_build(parts[:2], build, options, vectors="later")
    assert [manifest[name] for name in ("vectors_from", "vectors", "basis", "drift")] == [None] * 4
    assert manifest["digests"]["vectors"] is None
    run_update(build, parts[:3], vectors="later")
    for load in (CipherVectors.load, lambda uri: open_build(uri).vectors):
        with pytest.raises(BitcipherError, match=r"version 2, has counts but no vectors: make them with"):
            load(str(build))
    if options is OPTIONS:
        with pytest.raises(BitcipherError, match="has no vectors whose basis can be kept"):
            run_update(build, parts, basis="keep")
    manifest, _ = run_update(build, parts, basis="auto", max_drift=0.0)  # there is nothing to compare with
    assert (manifest["drift"], manifest["drift_from"]) == (None, None)
    run_build(parts, tmp_path / "scratch", options)
    assert same_digests(build, tmp_path / "scratch")


def test_vectors_are_not_mixed_with_other_counts(hourly, parts, tmp_path):
    opened = open_build(hourly)
    assert opened.counts_of_vectors.vocabulary.words == CipherVectors.load(hourly).words
    assert opened.counts_of_vectors.vocabulary.words != open_build(hourly).vocabulary["word"].combine_chunks()
    prune(str(hourly), keep=1)
    with pytest.raises(BitcipherError, match=r"version 3, has the vectors of version 1, whose counts were pruned"):
        _ = open_build(hourly).counts_of_vectors
    assert CipherVectors.load(hourly).index_to_key


def test_given_vectors_are_matched_with_the_version_of_their_counts(hourly, parts, tmp_path):
    # Version 3 has counts, and the vectors of version 1.
    newest, first = open_build(hourly).merged_counts, open_build(hourly, version=1).merged_counts
    embed_build(str(hourly), str(tmp_path / "own"), {}, 600, InProcessRuntime(1), StageProgress())
    for vectors in (tmp_path / "own", CipherVectors.load(tmp_path / "own")):
        opened = open_build(hourly, vectors=vectors)
        assert (opened.version_of_vectors, len(opened.counts_of_vectors.vocabulary)) == (3, len(newest.vocabulary))
    for vectors in (hourly, CipherVectors.load(hourly)):
        opened = open_build(hourly, vectors=vectors)
        assert (opened.version_of_vectors, len(opened.counts_of_vectors.vocabulary)) == (1, len(first.vocabulary))
    with pytest.raises(BitcipherError, match="were not made from the counts"):
        _ = open_build(hourly, version=2, vectors=tmp_path / "own").version_of_vectors


def test_pruned_vectors_stay_until_new_ones_are_made(hourly, parts, tmp_path):
    folder = hourly / read_manifest(str(hourly), 1).folder
    assert prune(str(hourly), keep=1) == [1, 2]
    manifest, _ = run_update(hourly, parts)
    assert (manifest["drift_from"], folder.exists()) == (1, True)
    assert prune(str(hourly), keep=1) == [3]
    assert not folder.exists()
    run_build(parts, tmp_path / "scratch", CAT)
    assert same_digests(hourly, tmp_path / "scratch")


def damage_of(build):
    return [(each.sentence, each.advice) for each in verify(str(build), InProcessRuntime(), StageProgress()).damage]


def test_vectors_of_a_pruned_version_are_verified(hourly):
    assert damage_of(hourly) == []
    file = hourly / read_manifest(str(hourly), 1).folder / "vectors" / "vectors.safetensors"
    content = bytearray(file.read_bytes())
    content[-1] ^= 1
    file.write_bytes(content)
    ((_, advice),) = damage_of(hourly)  # named once, although three versions have these vectors
    assert "vectors of version 1." in advice
    assert advice.endswith(f"bitcipher embed {hourly} --version 1 --out NEW")
    prune(str(hourly), keep=1)
    ((sentence, advice),) = damage_of(hourly)
    assert str(file) in sentence
    assert advice.endswith(f"bitcipher embed {hourly} --version 3 --out NEW")
    file.unlink()
    assert str(file) in damage_of(hourly)[0][0]


def test_refused_vectors_do_not_hold_up_the_counts(hourly, parts, monkeypatch):
    with pytest.raises(DriftError, match="higher --max-drift"):
        run_update(hourly, parts, max_drift=0.0)
    assert versions(str(hourly)) == [1, 2, 3]
    with monkeypatch.context() as patch:
        patch.setattr(count_stage, "count_shard", None)  # counting again would fail
        manifest, _ = run_update(hourly, parts, vectors="later")
    assert (manifest["version"], manifest["vectors_from"]["version"]) == (4, 1)
    manifest, _ = run_update(hourly, [], max_drift=1.0)
    assert (manifest["version"], manifest["drift_from"]) == (5, 1)


@pytest.mark.parametrize(("first", "then"), [("now", "later"), ("later", "now")])
def test_interrupted_job_resumes_with_the_other_choice(hourly, parts, tmp_path, monkeypatch, first, then):
    monkeypatch.setattr("pipelines.builds.make_version.write_vocabulary", None)  # interrupted after counting
    with pytest.raises(TypeError):
        run_update(hourly, parts, vectors=first)
    monkeypatch.undo()
    with pytest.raises(BitcipherError, match=r"An interrupted job has counted 1 shards that .* does not have yet"):
        run_update(hourly, [])
    with monkeypatch.context() as patch:
        patch.setattr(count_stage, "count_shard", None)  # counting again would fail
        assert run_update(hourly, parts, vectors=then)[0]["version"] == 4
    run_build(parts, tmp_path / "scratch", CAT)
    counts = [read_manifest(str(build)).digests.counts for build in (hourly, tmp_path / "scratch")]
    assert counts[0] == counts[1]


def test_killed_build_without_vectors_is_not_the_same_build_with_vectors(parts, tmp_path, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr("pipelines.builds.make_version.finish_job", lambda job: None)  # killed after publishing
        run_build(parts[:1], tmp_path / "build", CAT, vectors="later")
    with pytest.raises(BitcipherError, match="already exists: add to it with `bitcipher update`"):
        run_build(parts[:1], tmp_path / "build", CAT)
    assert run_build(parts[:1], tmp_path / "build", CAT, vectors="later")["vectors_from"] is None
    assert run_update(tmp_path / "build", [])[0]["vectors_from"]["version"] == 2


@pytest.mark.parametrize(
    ("chosen", "expected"),
    [
        ({"max_drift": 0.2}, "`max_drift` needs new vectors, and `vectors` later makes none"),
        ({"align": "1"}, "`align` needs new vectors"),
        ({"basis": "keep"}, "`basis` needs new vectors"),
    ],
)
def test_options_of_vectors_are_refused_without_vectors(chosen, expected):
    with pytest.raises(BitcipherError, match=expected):
        UpdateOptions(vectors="later", **chosen)


@pytest.mark.parametrize("chosen", [{"vectors": "later"}, {"replace": True}])
def test_options_of_counts_are_refused_without_sources(hourly, chosen):
    with pytest.raises(BitcipherError, match="needs sources: without sources, an update only makes vectors"):
        run_update(hourly, [], **chosen)
    assert versions(str(hourly)) == [1, 2, 3]

"""Updates of a growing corpus: every version equals a build of all its sources."""

import json
import shutil

import pytest
from builds import OPTIONS, digests, run_build, run_update, write_lines

from bitcipher.errors import BitcipherError
from bitcipher.files import storage
from bitcipher.vectors.cipher_vectors import CipherVectors
from bitcipher.versions import versions
from pipelines.builds.prune import drop_unfinished, prune
from pipelines.builds.version_drift import DriftError
from pipelines.count import count_stage
from pipelines.ingest import content_hash
from pipelines.store import fingerprint
from pipelines.store.manifest import read_manifest
from pipelines.store.stored_versions import StoredVersions


@pytest.fixture
def parts(documents, tmp_path):
    """Twelve files of documents in a directory."""
    folder = tmp_path / "corpus"
    folder.mkdir()
    return [write_lines(folder / f"{i:02d}.jsonl", documents[i::12]) for i in range(12)]


def files_of(build):
    return {path.relative_to(build) for path in build.rglob("*") if path.is_file() and "lease" not in path.parts}


def test_updates_equal_a_build_of_all_sources(parts, tmp_path):
    run_build(parts, tmp_path / "whole")
    run_build(parts[:3], tmp_path / "grown")
    for i in range(3, 12):
        manifest, changes = run_update(tmp_path / "grown", parts[: i + 1])
        assert [source.uri for source in changes.new] == [str(parts[i])]
        assert manifest["version"] == i - 1
        assert manifest["drift"]["words_in"] > 0
    assert digests(tmp_path / "grown") == digests(tmp_path / "whole")
    assert manifest["digests"] == read_manifest(str(tmp_path / "whole")).to_dict()["digests"]
    assert len(manifest["segments"]) < 6 < len(manifest["shards"])


def test_word_that_reaches_min_count_enters_with_all_its_counts(tmp_path):
    text = "the rare word is here and the other words are there too " * 3
    rare = write_lines(tmp_path / "a.jsonl", [text, "the xylophone sings of the sea"])
    more = write_lines(tmp_path / "b.jsonl", ["a xylophone and the xylophone", "xylophone xylophone of the sea", text])
    first = run_build([rare], tmp_path / "grown")
    assert "xylophone" not in CipherVectors.load(tmp_path / "grown")
    run_update(tmp_path / "grown", [more])
    run_build([rare, more], tmp_path / "whole")
    assert "xylophone" in CipherVectors.load(tmp_path / "grown")
    assert "xylophone" not in CipherVectors.load(tmp_path / "grown" / first["folder"] / "vectors")
    assert digests(tmp_path / "grown") == digests(tmp_path / "whole")


def test_bad_records_of_updates_equal_those_of_a_build_of_all_sources(parts, tmp_path):
    options = OPTIONS.derive({"max_bad_share": 0.05})
    for i in (1, 3, 5):
        parts[i].write_text(parts[i].read_text() + "{\n")
    whole = run_build(parts, tmp_path / "whole", options)
    assert whole["records"]["bad"] == {"not JSON": 3}
    assert f"of {parts[1]} is not JSON" in whole["records"]["example"]
    run_build(parts[2:4], tmp_path / "grown", options)
    manifest, _ = run_update(tmp_path / "grown", parts)
    assert manifest["records"] == whole["records"]
    parts[1].unlink()
    manifest, _ = run_update(tmp_path / "grown", [tmp_path / "corpus"], replace=True)
    assert manifest["records"]["bad"] == {"not JSON": 2}
    assert f"of {parts[3]} is not JSON" in manifest["records"]["example"]


def test_counted_content_is_not_counted_again(parts, tmp_path):
    run_build(parts[:3], tmp_path / "build")
    before = digests(tmp_path / "build")
    copy = shutil.copy(parts[0], tmp_path / "corpus" / "copy.jsonl")
    manifest, changes = run_update(tmp_path / "build", [copy])
    assert [source.uri for source in changes.copies] == [str(copy)]
    assert manifest["version"] == 1
    assert digests(tmp_path / "build") == before
    assert versions(str(tmp_path / "build")) == [1]


def test_changed_and_vanished_files_are_reported_and_replaced(parts, documents, tmp_path):
    run_build(parts, tmp_path / "build")
    before = digests(tmp_path / "build")
    write_lines(parts[0], ["an altogether other text", *documents[:5]])
    parts[1].unlink()
    _, changes = run_update(tmp_path / "build", [tmp_path / "corpus"])
    assert [source.uri for source in changes.changed] == [str(parts[0])]
    assert [source.uri for source in changes.vanished] == [str(parts[1])]
    assert digests(tmp_path / "build") == before
    manifest, _ = run_update(tmp_path / "build", [tmp_path / "corpus"], replace=True)
    run_build([tmp_path / "corpus"], tmp_path / "whole")
    assert digests(tmp_path / "build") == digests(tmp_path / "whole")
    assert manifest["digests"] == read_manifest(str(tmp_path / "whole")).to_dict()["digests"]
    assert {source["uri"] for source in manifest["sources"]} == {str(part) for part in parts if part != parts[1]}
    assert run_update(tmp_path / "build", [tmp_path / "corpus"], replace=True)[0]["version"] == 2


def test_files_that_shared_a_shard_with_removed_content_are_counted_again(documents, tmp_path):
    small = [write_lines(tmp_path / f"{i}.jsonl", documents[i * 20 : i * 20 + 20]) for i in range(6)]
    assert len(run_build(small, tmp_path / "build")["shards"]) < 6
    small[2].unlink()
    run_update(tmp_path / "build", [tmp_path / "*.jsonl"], replace=True)
    run_build([tmp_path / "*.jsonl"], tmp_path / "whole")
    assert digests(tmp_path / "build") == digests(tmp_path / "whole")


def test_align_keeps_ranks(parts, tmp_path):
    run_build(parts[:3], tmp_path / "build")
    before = CipherVectors.load(tmp_path / "build").index_to_key
    manifest, _ = run_update(tmp_path / "build", parts, align="1")
    now = CipherVectors.load(tmp_path / "build").index_to_key
    assert now[: len(before)] == before
    assert len(now) > len(before)
    assert manifest["drift"]["rank_moves"]["words"] == 0
    assert manifest["aligned"] == "1"
    run_update(tmp_path / "build", parts, align=str(tmp_path / "build"))
    assert CipherVectors.load(tmp_path / "build").index_to_key == now
    with pytest.raises(BitcipherError, match="no version 9"):
        run_update(tmp_path / "build", parts, align="9")


def test_version_beyond_max_drift_is_not_published_and_its_counts_are_kept(parts, tmp_path, monkeypatch):
    run_build(parts[:6], tmp_path / "build")
    with pytest.raises(DriftError, match="higher --max-drift"):
        run_update(tmp_path / "build", parts, max_drift=0.0)
    assert versions(str(tmp_path / "build")) == [1]
    monkeypatch.setattr(count_stage, "count_shard", None)  # counting again would fail
    manifest, _ = run_update(tmp_path / "build", parts, max_drift=1.0)
    assert manifest["version"] == 2


def test_old_versions_are_readable_until_pruned(parts, tmp_path):
    build = tmp_path / "build"
    run_build(parts[:4], build)
    first = digests(build)
    for i in range(4, 8):
        run_update(build, parts[: i + 1])
    assert digests(build, 1) == first
    assert prune(str(build), keep=2) == [1, 2, 3]
    assert versions(str(build)) == [4, 5]
    run_build(parts[:8], tmp_path / "whole")
    assert digests(build) == digests(tmp_path / "whole")
    with pytest.raises(BitcipherError, match=r"has no version 1\. Its versions are 4, 5"):
        digests(build, 1)
    stored = [StoredVersions(str(build)).find(number) for number in (4, 5)]
    needed = {part for version in stored for each in (*version.segments, *version.shards) for part in each.parts}
    assert len([file for file in files_of(build) if file.parts[0] in ("shards", "segments")]) == 3 * len(needed)
    with pytest.raises(BitcipherError, match="`keep` must be at least 1"):
        prune(str(build), keep=0)


def test_update_with_other_counting_options_raises(parts, tmp_path, monkeypatch):
    run_build(parts[:3], tmp_path / "build")
    monkeypatch.setattr(fingerprint, "COUNTS_VERSION", 0)
    with pytest.raises(BitcipherError, match=r"made with other options \(counts_version 2 → 0\): make a new build"):
        run_update(tmp_path / "build", parts)


def test_unfinished_build_resumes_only_with_the_same_options(parts, tmp_path, monkeypatch):
    monkeypatch.setattr(storage, "create", fail_at("versions/000001.json", storage.create))
    with pytest.raises(OSError, match="power"):
        run_build(parts, tmp_path / "build")
    monkeypatch.undo()
    with pytest.raises(BitcipherError, match=r"lowercase True → False.*prune --unfinished"):
        run_build(parts, tmp_path / "build", OPTIONS.derive({"lowercase": False}))
    monkeypatch.setattr(count_stage, "count_shard", None)  # counting again would fail
    run_build(parts, tmp_path / "build")
    monkeypatch.undo()
    run_build(parts, tmp_path / "whole")
    assert digests(tmp_path / "build") == digests(tmp_path / "whole")
    assert {file.parts[0] for file in files_of(tmp_path / "build")} == {"shards", "segments", "versions"}


@pytest.mark.parametrize("is_damaged", [False, True], ids=["hashes", "damaged hashes"])
def test_resumed_build_counts_what_sources_contain_now(parts, documents, tmp_path, monkeypatch, is_damaged):
    monkeypatch.setattr(storage, "create", fail_at("versions/000001.json", storage.create))
    with pytest.raises(OSError, match="power"):
        run_build(parts, tmp_path / "build")
    monkeypatch.undo()
    write_lines(parts[3], documents[:7])
    (table,) = (tmp_path / "build").glob("ledger/jobs/*/hashed/*.parquet")
    if is_damaged:
        table.write_bytes(table.read_bytes()[:-1])
    run_build(parts, tmp_path / "build")
    run_build(parts, tmp_path / "whole")
    assert digests(tmp_path / "build") == digests(tmp_path / "whole")


def test_resumed_update_hashes_no_counted_source_again(parts, tmp_path, monkeypatch):
    run_build(parts[:3], tmp_path / "build")
    monkeypatch.setattr(storage, "create", fail_at("versions/000002.json", storage.create))
    with pytest.raises(OSError, match="power"):
        run_update(tmp_path / "build", parts)
    monkeypatch.undo()
    hashed, original = [], content_hash.hash_content
    monkeypatch.setattr(content_hash, "hash_content", lambda uri: hashed.append(uri) or original(uri))
    run_update(tmp_path / "build", parts)
    assert not {*hashed} & {*map(str, parts)}


def fail_at(name, create):
    def create_or_fail(uri, content):
        if uri.endswith(name):
            raise OSError("the power is gone")
        return create(uri, content)

    return create_or_fail


def test_update_of_a_directory_that_is_no_build_changes_nothing(parts, tmp_path):
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "mine.txt").write_text("dear diary")
    with pytest.raises(BitcipherError, match="does not hold a build"):
        run_build(parts, tmp_path / "notes")
    with pytest.raises(BitcipherError, match="is not a build"):
        run_update(tmp_path / "notes", parts)
    assert [path.name for path in (tmp_path / "notes").iterdir()] == ["mine.txt"]


def test_build_that_fails_before_counting_leaves_no_files(tmp_path):
    (tmp_path / "faulty.jsonl").write_text('{"text": "a"}\n{')
    with pytest.raises(BitcipherError, match="Line 2"):
        run_build([tmp_path / "faulty.jsonl"], tmp_path / "build")
    assert not (tmp_path / "build").exists()


def test_manifest_is_plain_json(parts, tmp_path):
    run_build(parts[:2], tmp_path / "build")
    manifest = json.loads((tmp_path / "build" / "versions" / "000001.json").read_text())
    version = StoredVersions(str(tmp_path / "build")).find()
    assert manifest["tokens"] == sum(shard.tokens for shard in version.shards)
    assert all(source.sha256 for source in version.sources)


def test_unfinished_build_resumes_with_another_shard_size(documents, tmp_path, monkeypatch):
    corpus = write_lines(tmp_path / "all.jsonl", documents)
    options = OPTIONS.derive({"shard_mib": 2})
    monkeypatch.setattr(storage, "create", fail_at("/00001.json", storage.create))  # the second shard
    with pytest.raises(OSError, match="power"):
        run_build([corpus], tmp_path / "build", options)
    monkeypatch.undo()
    assert len(run_build([corpus], tmp_path / "build")["shards"]) > 1
    run_build([corpus], tmp_path / "whole")
    assert digests(tmp_path / "build") == digests(tmp_path / "whole")


def test_dropping_needs_an_unfinished_job(tmp_path):
    with pytest.raises(BitcipherError, match="no unfinished job"):
        drop_unfinished(str(tmp_path / "nowhere"))
    assert not (tmp_path / "nowhere").exists()

import uuid

import pytest

from bitcipher.counts.segment import part_files
from bitcipher.errors import BitcipherError
from bitcipher.files import json_files, storage
from bitcipher.version_manifest import VectorsReference
from bitcipher.versions import manifest_uri, vectors_of, versions
from pipelines.builds.prune import collect_garbage, drop_unfinished, prune
from pipelines.ingest.record_counts import RecordCounts
from pipelines.options import BuildOptions
from pipelines.store.build_folder import BUILD, COUNTED_SHARDS, COUNTED_TASKS, MERGED_PARTS, MergedPart
from pipelines.store.job_folder import JobEntry, job_ledger, publish_version
from pipelines.store.layout import LEASE
from pipelines.store.lease import Lease
from pipelines.store.manifest import BuildManifest, CountedTask, VectorSizes, VersionDigests, read_manifest
from pipelines.store.segments import Segment
from pipelines.store.stored_versions import StoredVersions
from pipelines.store.version_tables import KINDS, VersionContents

SIZES = dict.fromkeys(("documents", "total_passages", "text_bytes", "tokens", "types", "entries"), 1)


def segment_of(parts):
    hashes = ("0" * 64,) * len(parts)
    return Segment(name=parts[0], parts=tuple(parts), part_hashes=hashes, shards=(parts[0],), digest="0" * 32, **SIZES)


def write_version(build, version, segments, shards, suffix="ab", vectors_from=None):
    """Write the tables of a version, and return its manifest."""
    folder = f"versions/{version:06d}-{suffix}"
    contents = VersionContents(shards=tuple(map(segment_of, shards)), segments=tuple(map(segment_of, segments)))
    return BuildManifest(
        version=version,
        folder=folder,
        vectors_from=vectors_from or VectorsReference(version=version, folder=f"{folder}/vectors"),
        bitcipher="test",
        options=BuildOptions(),
        fingerprint={},
        aligned=None,
        **dict.fromkeys(("documents", "text_bytes", "tokens", "vocabulary", "oov_tokens"), 1),
        records=RecordCounts(),
        tables=contents.write(storage.join(build, folder)),
        digests=VersionDigests(words="", counts="", vectors=""),
        vectors=VectorSizes(words=1, dimensions=1, empty_words=0),
        basis=None,
        drift=None,
        drift_from=None,
    )


def publish(build, manifest, lease):
    publish_version(build, manifest.version, manifest_uri(build, manifest.version), manifest, lease)


def write(build, *names):
    for name in names:
        json_files.write(storage.join(build, name), {"a": 1})


def write_parts(build, *parts):
    write(build, *(file for part in parts for file in part_files(part)))


def stored_names(build):
    """Return the parts whose files all exist, and the names below `versions`."""
    files = set(storage.list_files(build, unfinished=True))
    parts = {file.removesuffix(".words.parquet") for file in files if file.endswith(".words.parquet")}
    assert {file for file in files if file.startswith(("shards/", "segments/"))} == {
        file for part in parts for file in part_files(part)
    }
    return parts, {file.split("/")[1] for file in files if file.startswith("versions/")}


FIRST = (1, [["shards/a"], ["shards/b"]], [["shards/a"], ["shards/b"]])
SECOND = (2, [["segments/abc-0", "segments/abc-1"]], [["shards/a"], ["shards/b"], ["shards/c"]])


@pytest.fixture
def build(base_uri):
    """URI of a build with two versions. The segment of version 2 merges the shards of version 1 and a new shard."""
    uri = storage.join(base_uri, "build")
    write_parts(uri, "shards/a", "shards/b", "shards/c", "segments/abc-0", "segments/abc-1")
    for version in (FIRST, SECOND):
        manifest = write_version(uri, *version)
        write(uri, f"{manifest.folder}/words.parquet", f"{manifest.folder}/vectors/manifest.json")
        with Lease(uri) as lease:
            publish(uri, manifest, lease)
    return uri


def test_collect_garbage_removes_unreferenced_files(build):
    needed = stored_names(build)
    write_parts(build, "shards/lost", "segments/lost-0")
    work = f"work/{uuid.uuid4().hex}/words.parquet"
    write(build, "shards/half.rows.parquet", work, "versions/000002-late/words.parquet")
    collect_garbage(StoredVersions(build))
    assert stored_names(build) == needed
    assert not storage.exists(storage.join(build, "work"))


def test_unfinished_files_of_dead_processes_are_removed(tmp_path):
    build = str(tmp_path)
    write(build, f"shards/a.words.parquet.123{storage.UNFINISHED}", f"versions/000001-ab/x{storage.UNFINISHED}")
    with Lease(build) as lease:
        publish(build, write_version(build, 1, [], [], suffix="cd"), lease)
    collect_garbage(StoredVersions(build))
    tables = [f"versions/000001-cd/{name}.parquet" for name in sorted(KINDS)]
    assert [name for name in storage.list_files(build, unfinished=True) if "lease" not in name] == [
        *tables,
        "versions/000001.json",
    ]


def test_work_of_an_unfinished_job_is_kept(build):
    started = "2026-01-31T12:00:00+00:00"
    job = BUILD.record_job(build, JobEntry(id="ab", version=3, fingerprint={}, started=started))
    ledger = job_ledger(build, job)
    write_parts(build, "shards/d", "segments/cd-0", "shards/lost")
    ledger.record(COUNTED_SHARDS, "task/00000", segment_of(["shards/d"]))
    ledger.record(COUNTED_TASKS, "task", CountedTask(id="task", sources=(), shards=("shards/d",), records={}))
    ledger.record(MERGED_PARTS, "cd/0-9", MergedPart(part="segments/cd-0", sha256="0" * 64, entries=1, digest="0" * 32))
    needed = stored_names(build)[0] - {"shards/lost"}
    collect_garbage(StoredVersions(build))
    assert stored_names(build)[0] == needed
    prune(build, keep=1)
    assert stored_names(build)[0] == needed
    assert drop_unfinished(build) == 1
    assert stored_names(build)[0] == needed - {"shards/d", "segments/cd-0"}
    assert BUILD.find_job(build) is None
    assert ledger.keys(COUNTED_TASKS) == []


def test_files_of_a_higher_unpublished_version_are_kept(build):
    write(build, "versions/000003-ab/words.parquet", "versions/000002-cd/words.parquet")
    collect_garbage(StoredVersions(build))
    assert stored_names(build)[1] == {"000001.json", "000001-ab", "000002.json", "000002-ab", "000003-ab"}
    drop_unfinished(build)
    assert stored_names(build)[1] == {"000001.json", "000001-ab", "000002.json", "000002-ab"}


def test_prune_keeps_the_newest_versions_and_their_shards(build):
    assert prune(build, keep=5) == []
    assert prune(build, keep=1) == [1]
    assert versions(build) == [2]
    parts, names = stored_names(build)
    # Shards are kept, because a later update may subtract them.
    assert parts == {"shards/a", "shards/b", "shards/c", "segments/abc-0", "segments/abc-1"}
    assert names == {"000002.json", "000002-ab"}
    assert prune(build, keep=1) == []


def test_prune_keeps_vectors_that_a_kept_version_refers_to(build):
    second = read_manifest(build, 2)
    for version in (3, 4):
        later = write_version(build, version, [["shards/c"]], [["shards/c"]], vectors_from=second.vectors_from)
        write(build, f"{later.folder}/words.parquet")
        with Lease(build) as lease:
            publish(build, later, lease)
    assert prune(build, keep=1) == [1, 2, 3]
    assert stored_names(build)[1] == {"000002-ab", "000004.json", "000004-ab"}
    assert vectors_of(build) == storage.join(build, second.folder, "vectors")
    write(build, "versions/000005-ab/words.parquet")
    with Lease(build) as lease:
        publish(build, write_version(build, 5, [["shards/c"]], [["shards/c"]]), lease)
    assert prune(build, keep=1) == [4]
    assert stored_names(build)[1] == {"000005.json", "000005-ab"}


def test_files_of_earlier_versions_are_kept_while_a_manifest_is_damaged(build):
    needed = stored_names(build)
    json_files.write(manifest_uri(build, 3), {"damaged": True})  # it may refer to vectors of version 1 or 2
    write(build, "versions/000003-ab/words.parquet")
    storage.remove(manifest_uri(build, 1))
    with Lease(build) as lease:
        publish(build, write_version(build, 4, [["shards/c"]], [["shards/c"]]), lease)
    collect_garbage(StoredVersions(build))
    assert stored_names(build)[0] == needed[0]
    names = {"000001-ab", "000002.json", "000002-ab", "000003.json", "000003-ab", "000004.json", "000004-ab"}
    assert stored_names(build)[1] == names


def test_prune_raises_without_a_build_or_during_a_job(build, base_uri):
    with pytest.raises(BitcipherError, match="`keep` must be at least 1"):
        prune(build, keep=0)
    with pytest.raises(BitcipherError, match="There is no build"):
        prune(storage.join(base_uri, "elsewhere"), keep=1)
    with Lease(build):
        for remove in (lambda: prune(build, keep=1), lambda: drop_unfinished(build)):
            with pytest.raises(BitcipherError, match="Another job is running"):
                remove()
    assert versions(build) == [1, 2]


def test_publishing_an_existing_version_raises(build):
    second = read_manifest(build, 2)
    with Lease(build) as lease, pytest.raises(BitcipherError, match="Another job published version 2"):
        publish(build, write_version(build, 2, [], [], suffix="other"), lease)
    assert read_manifest(build, 2) == second


def test_job_that_lost_its_lease_publishes_nothing(build):
    with Lease(build) as lost:
        (mine,) = storage.list_files(storage.join(build, LEASE))
        write(build, f"{LEASE}/{int(mine.removesuffix('.json')) + 1:06d}.json")  # another job took over
        with pytest.raises(BitcipherError, match="Another job has taken over"):
            publish(build, write_version(build, 3, [], []), lost)
    assert versions(build) == [1, 2]
    assert not storage.exists(manifest_uri(build, 3))

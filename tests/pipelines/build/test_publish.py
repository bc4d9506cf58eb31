import pytest

from bitcipher import storage
from bitcipher.counts import part_files
from bitcipher.errors import BitcipherError
from bitcipher.versions import manifest_uri, versions
from pipelines.store import layout
from pipelines.store import lease
from pipelines.store.lease import Lease
from pipelines.store.ledger import Ledger
from pipelines.build.publish import collect_garbage, drop_unfinished, prune, publish


def manifest_of(version, segments, shards):
    return {
        "format": layout.FORMAT,
        "version": version,
        "folder": f"versions/{version:06d}-ab",
        "segments": [{"parts": parts} for parts in segments],
        "shards": [{"parts": parts} for parts in shards],
    }


def write(build, *names):
    for name in names:
        storage.write_json(storage.join(build, name), {})


def write_parts(build, *parts):
    write(build, *(file for part in parts for file in part_files(part)))


def parts_in(build):
    """Parts of which all files are there, and names below versions."""
    files = set(storage.list_files(build, unfinished=True))
    parts = {file.removesuffix(".words.parquet") for file in files if file.endswith(".words.parquet")}
    assert {file for file in files if file.startswith(("shards/", "segments/"))} == {
        file for part in parts for file in part_files(part)
    }
    return parts, {file.split("/")[1] for file in files if file.startswith("versions/")}


FIRST = manifest_of(1, [["shards/a"], ["shards/b"]], [["shards/a"], ["shards/b"]])
SECOND = manifest_of(2, [["segments/abc-0", "segments/abc-1"]], [["shards/a"], ["shards/b"], ["shards/c"]])


@pytest.fixture
def build(place):
    """Two versions: the second one's counts are merged, from the first one's shards and one more."""
    uri = storage.join(place, "build")
    write_parts(uri, "shards/a", "shards/b", "shards/c", "segments/abc-0", "segments/abc-1")
    for manifest in (FIRST, SECOND):
        write(uri, f"{manifest['folder']}/words.parquet", f"{manifest['folder']}/vectors/manifest.json")
        with Lease(uri) as held:
            publish(uri, manifest, held)
    return uri


def test_what_versions_need_is_kept_and_all_else_removed(build):
    needed = parts_in(build)
    write_parts(build, "shards/lost", "segments/lost-0")
    write(build, "shards/half.rows.parquet", "work/x/words.parquet", "versions/000002-late/words.parquet")
    collect_garbage(build)
    assert parts_in(build) == needed
    assert not storage.exists(storage.join(build, "work"))


def test_half_written_files_of_the_dead_are_removed(tmp_path):
    build = str(tmp_path)
    write(build, f"shards/a.words.parquet.123{storage.UNFINISHED}", f"versions/000001-ab/x{storage.UNFINISHED}")
    with Lease(build) as held:
        publish(build, manifest_of(1, [], []) | {"folder": "versions/000001-cd"}, held)
    collect_garbage(build)
    assert [name for name in storage.list_files(build, unfinished=True) if "lease" not in name] == [
        "versions/000001.json"
    ]


def test_what_an_unfinished_job_has_done_is_kept(build):
    ledger = Ledger(storage.join(build, layout.LEDGER))
    write_parts(build, "shards/d", "segments/cd-0", "shards/lost")
    ledger.record("count/task/00000", {"name": "d", "parts": ["shards/d"]})
    ledger.record("count/task/done", {})
    ledger.record("merge/cd/00000", {"part": "segments/cd-0", "entries": 1})
    needed = parts_in(build)[0] - {"shards/lost"}
    collect_garbage(build)
    assert parts_in(build)[0] == needed
    prune(build, keep=1)
    assert parts_in(build)[0] == needed
    assert drop_unfinished(build) == 1
    assert parts_in(build)[0] == needed - {"shards/d", "segments/cd-0"}
    assert ledger.entries() == {}


def test_a_version_that_another_job_may_still_publish_is_kept(build):
    write(build, "versions/000003-ab/words.parquet", "versions/000002-cd/words.parquet")
    collect_garbage(build)
    assert parts_in(build)[1] == {"000001.json", "000001-ab", "000002.json", "000002-ab", "000003-ab"}
    drop_unfinished(build)
    assert parts_in(build)[1] == {"000001.json", "000001-ab", "000002.json", "000002-ab"}


def test_pruning_keeps_the_newest_versions_and_what_they_need(build):
    assert prune(build, keep=5) == []
    assert prune(build, keep=1) == [1]
    assert versions(build) == [2]
    parts, names = parts_in(build)
    # The shards stay, so that they can be subtracted.
    assert parts == {"shards/a", "shards/b", "shards/c", "segments/abc-0", "segments/abc-1"}
    assert names == {"000002.json", "000002-ab"}
    assert prune(build, keep=1) == []


def test_pruning_needs_a_build_that_is_its_own(build, place):
    with pytest.raises(BitcipherError, match="At least 1 version must be kept, not 0"):
        prune(build, keep=0)
    with pytest.raises(BitcipherError, match="is not a build"):
        prune(storage.join(place, "elsewhere"), keep=1)
    with Lease(build):
        for remove in (lambda: prune(build, keep=1), lambda: drop_unfinished(build)):
            with pytest.raises(BitcipherError, match="Another job is at work"):
                remove()
    assert versions(build) == [1, 2]


def test_a_version_is_published_once(build):
    with Lease(build) as held, pytest.raises(BitcipherError, match=r"Version 2 of .* was published by another job"):
        publish(build, SECOND | {"folder": "versions/000002-other"}, held)
    assert storage.read_json(manifest_uri(build, 2)) == SECOND


def test_who_lost_the_lease_publishes_nothing(build):
    with Lease(build) as slept:
        (mine,) = storage.list_files(storage.join(build, lease.FOLDER))
        write(build, f"{lease.FOLDER}/{int(mine.removesuffix('.json')) + 1:06d}.json")  # another job took over
        with pytest.raises(BitcipherError, match="Another job has taken over"):
            publish(build, manifest_of(3, [], []), slept)
    assert versions(build) == [1, 2]

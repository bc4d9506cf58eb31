"""A new version is served once it is loaded; a damaged one is not, and the old one is freed."""

import gc
import shutil
import weakref
from contextlib import closing

import pytest
from builds import run_update
from served_builds import write_text

from bitcipher import BitcipherError, open_build
from cluster.serve.server_metrics import ServerMetrics
from cluster.serve.version_watcher import MAX_SECONDS, VersionWatcher

HOUR = 3600.0


@pytest.fixture
def build(served_build, tmp_path):
    """Copy of the build, to publish versions in."""
    shutil.copytree(served_build, tmp_path / "build")
    return tmp_path / "build"


@pytest.fixture
def metrics():
    return ServerMetrics()


@pytest.fixture
def watch(build, queue, metrics):
    """Return a function that starts to watch the build, without looks of its own."""
    started = []

    def call(version=None, check_seconds=HOUR):
        started.append(VersionWatcher(str(build), version, check_seconds, queue, metrics))
        return started[-1]

    yield call
    for watcher in started:
        watcher.close()


def publish(build, documents, **options):
    manifest, _ = run_update(build, [write_text(build.parent / f"{documents}.jsonl", documents)], **options)
    return manifest["version"]


def test_new_version_replaces_the_old_one_which_is_freed(build, watch, metrics, capfd):
    watcher = watch()
    first = watcher.current
    watcher.check()
    assert watcher.current is first
    assert publish(build, 80) == 2
    watcher.check()
    assert watcher.current.location.version == 2
    assert "Serving version 2 now" in capfd.readouterr().out
    assert b"bitcipher_version 2.0" in metrics.to_text()
    freed = weakref.ref(first.vectors)
    del first
    gc.collect()
    assert freed() is None


def test_parts_that_requests_needed_are_made_before_the_switch(build, watch):
    watcher = watch()
    watcher.current.encode(["w1"])
    publish(build, 80)
    watcher.check()
    assert "_sentence_encoder" in vars(watcher.current.vectors)


def test_explanations_of_each_version_have_an_index(build, queue, metrics, tmp_path, capfd):
    index = tmp_path / "index"
    with closing(VersionWatcher(str(build), None, HOUR, queue, metrics, str(index))) as watcher:
        first = watcher.current
        assert first.explain("w1", "w4", 3) == open_build(build).explain("w1", "w4", 3)
        publish(build, 80)
        watcher.check()
        assert watcher.current.explain("w1", "w4", 3) == open_build(build).explain("w1", "w4", 3)
        assert first.explain("w2", "w3", 3) == open_build(build, 1).explain("w2", "w3", 3)
    assert capfd.readouterr().out.count("Writing an index of explanations") == 2
    with closing(VersionWatcher(str(build), None, HOUR, queue, metrics, str(index))):
        assert "Writing" not in capfd.readouterr().out


def test_version_without_new_vectors_changes_nothing(build, watch):
    watcher = watch()
    before = watcher.current
    assert publish(build, 80, vectors="later") == 2
    watcher.check()
    assert watcher.current is before
    again = watch().current
    assert (again.location.version, again.location.published) == (1, 2)
    assert again.explain("w1", "w4", 3).similarity == before.explain("w1", "w4", 3).similarity


def test_damaged_version_is_not_served_and_reported_once(build, watch, metrics, capfd):
    watcher = watch(check_seconds=400.0)
    before = watcher.current
    publish(build, 80)
    (manifest,) = build.glob("versions/000002-*/vectors/manifest.json")
    content = manifest.read_bytes()
    manifest.write_bytes(content[:100])
    for _ in range(2):
        watcher.check()
    assert watcher.current is before
    assert capfd.readouterr().err.count("the newest version is not served, but the one before") == 1
    assert b'bitcipher_version_loads_total{result="failed"} 2.0' in metrics.to_text()
    assert watcher._wait_seconds == MAX_SECONDS
    manifest.write_bytes(content)
    watcher.check()
    assert watcher.current.location.version == 2
    assert watcher._wait_seconds == 400.0


def test_chosen_version_stays(build, watch):
    publish(build, 80)
    watcher = watch(version=1, check_seconds=0.01)
    assert watcher._thread is None
    assert watcher.current.location.version == 1
    with pytest.raises(BitcipherError, match="has no version 9"):
        watch(version=9)


def test_build_without_vectors_is_refused(tmp_path, queue, metrics):
    for uri in (tmp_path / "missing", tmp_path):
        with pytest.raises(BitcipherError):
            VersionWatcher(str(uri), None, HOUR, queue, metrics)

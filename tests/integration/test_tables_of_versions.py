"""What grows with the corpus is in tables, which only commands that need them read, and each at most once."""

from collections import Counter

import pytest
from builds import OPTIONS, run_build, run_update, write_lines

from bitcipher.errors import BitcipherError
from bitcipher.files import storage
from bitcipher.stored_build import open_build
from bitcipher.vectors.cipher_vectors import CipherVectors
from pipelines.builds.build import update
from pipelines.options import UpdateOptions
from pipelines.runtime.in_process import InProcessRuntime
from pipelines.runtime.progress import StageProgress
from pipelines.store.stored_versions import StoredVersions
from pipelines.store.version_tables import KINDS

CAT = OPTIONS.derive({"mode": "cat", "bits": 16, "window": 2, "min_count": 1})


@pytest.fixture
def files(documents, tmp_path):
    """Paths of six files."""
    return [write_lines(tmp_path / f"{i}.jsonl", documents[i::6]) for i in range(6)]


def table_files(build, version):
    """Return the path of each table of a version."""
    folder = build / StoredVersions(str(build)).find(version).manifest.folder
    return {name: folder / f"{name}.parquet" for name in KINDS}


def test_equal_builds_have_equal_tables(files, tmp_path):
    one, other = (run_build(files, tmp_path / name, CAT) for name in ("one", "other"))
    for name in ("sources", "tasks"):
        assert one["tables"][name] == other["tables"][name]
        contents = [table_files(tmp_path / build, 1)[name].read_bytes() for build in ("one", "other")]
        assert contents[0] == contents[1]
    for name in ("shards", "segments"):  # equal but for the unique names of files, which the files hold
        rows = [[{**row, "parts": 0, "part_hashes": 0} for row in build[name]] for build in (one, other)]
        assert rows[0] == rows[1]


def test_size_of_the_manifest_does_not_grow_with_the_corpus(documents, tmp_path):
    folder = tmp_path / "corpus"
    folder.mkdir()
    for number in range(400):
        (folder / f"{number:03d}.txt").write_text(f"{documents[number % len(documents)][:100]} {number}\n")
    few = run_build([folder / "000.txt", folder / "001.txt"], tmp_path / "few", CAT, vectors="later")
    many = run_build([folder], tmp_path / "many", CAT, vectors="later")
    assert (len(few["sources"]), len(many["sources"])) == (2, 400)
    sizes = [(tmp_path / name / "versions" / "000001.json").stat().st_size for name in ("few", "many")]
    assert sizes[1] < sizes[0] + 100  # more digits


def test_commands_that_need_no_tables_do_not_read_them(files, tmp_path, run_command):
    build = tmp_path / "build"
    run_build(files, build, CAT)
    for path in table_files(build, 1).values():
        path.unlink()
    for command in ("neighbors", "status", "inspect"):
        arguments = (command, build, "the") if command == "neighbors" else (command, build)
        code, _, error = run_command(*arguments)
        assert (code, error) == (0, "")
    assert len(CipherVectors.load(str(build), verify=True)) > 10
    for read in (lambda: open_build(build), lambda: run_update(build, files)):
        with pytest.raises(BitcipherError, match=r"There is no file .*\.parquet"):
            read()


def test_library_needs_only_the_table_of_segments(files, tmp_path):
    build = tmp_path / "build"
    run_build(files, build, CAT)
    expected = open_build(build).cooccurrence(offset=1).sum()
    for name, path in table_files(build, 1).items():
        if name != "segments":
            path.unlink()
    assert open_build(build).cooccurrence(offset=1).sum() == expected > 0


def test_update_reads_each_table_at_most_once(files, tmp_path, monkeypatch):
    build = tmp_path / "build"
    run_build(files[:2], build, CAT)
    run_update(build, files[:3])
    read = Counter()
    read_bytes = storage.read_bytes

    def reading(uri):
        read[uri.removeprefix(str(build))] += "versions" in uri
        return read_bytes(uri)

    monkeypatch.setattr(storage, "read_bytes", reading)
    for sources in (files[:3], files):  # without news, and with news
        read.clear()
        with StageProgress() as progress, InProcessRuntime() as runtime:
            update(str(build), list(map(str, sources)), UpdateOptions(), 600, runtime, progress)
        tables = {name: number for name, number in read.items() if any(f"{kind}.parquet" in name for kind in KINDS)}
        assert max(tables.values()) == 1
        assert max(number for name, number in read.items() if name.endswith("0002.json")) == 1


def test_counts_stay_while_a_table_is_damaged(files, tmp_path, run_command):
    build = tmp_path / "build"
    run_build(files[:2], build, CAT)
    run_update(build, files[:3])
    counts = {path for path in build.rglob("s*/*.parquet") if path.parent.name in ("shards", "segments")}
    table_files(build, 1)["shards"].write_bytes(b"")
    manifest, _ = run_update(build, files)
    assert manifest["version"] == 3
    assert counts <= set(build.rglob("*"))
    code, out, err = run_command("verify", build)
    assert code == 2
    assert "shards.parquet" in " ".join((out + err).split())

"""Folders of counts, opened by SciPy and Arrow."""

import io

import pyarrow.parquet as pq
import pytest
from builds import OPTIONS, run_build, write_lines
from scipy.sparse import csr_array, load_npz

from bitcipher import BitcipherError, CipherVectors, open_build
from bitcipher.files import storage
from bitcipher.formats.count_folder import write_counts

TEXTS = ["القط and the cat saw the dog", "a dog saw the القط"]


def make_build(folder, **chosen) -> str:
    run_build([write_lines(folder / "texts.jsonl", TEXTS)], folder / "build", OPTIONS.copy_with(min_count=1, **chosen))
    return str(folder / "build")


def test_scipy_and_arrow_open_the_files(tmp_path):
    build = open_build(make_build(tmp_path, window=2))
    matrices = []
    write_counts(build, tmp_path / "out", matrices.append)
    assert matrices == [1, 1, 1]
    assert pq.read_table(tmp_path / "out" / "vocabulary.parquet").equals(build.vocabulary)
    offsets = {"offset-01": 1, "offset-02": 2, "sum": None}
    files = {f"cooccurrence-{name}.npz": offset for name, offset in offsets.items()}
    assert {path.name for path in (tmp_path / "out").iterdir()} == {*files, "README.txt", "vocabulary.parquet"}
    readme = (tmp_path / "out" / "README.txt").read_text()
    for name, offset in files.items():
        loaded = load_npz(tmp_path / "out" / name)
        assert isinstance(loaded, csr_array)
        assert loaded.nnz > 0
        assert (loaded != build.cooccurrence(offset)).nnz == 0
        assert name in readme


def test_a_store_gets_the_same_files(tmp_path, base_uri):
    build = open_build(make_build(tmp_path, window=1))
    target = storage.join(base_uri, "out")
    write_counts(build, target)
    assert len(storage.list_files(target)) == 4
    with storage.reading(storage.join(target, "cooccurrence-offset-01.npz")) as stream:
        assert (load_npz(io.BytesIO(stream.read())) != build.cooccurrence(1)).nnz == 0


def test_equal_counts_give_equal_files(tmp_path):
    uri = make_build(tmp_path, window=2)
    for name in ("one", "two"):
        write_counts(open_build(uri), tmp_path / name)
    for path in (tmp_path / "one").iterdir():
        assert path.read_bytes() == (tmp_path / "two" / path.name).read_bytes()


def test_summed_counts_have_one_matrix(tmp_path):
    build = open_build(make_build(tmp_path, window=128, summed=True, context="window"))
    write_counts(build, tmp_path / "out")
    assert [path.name for path in (tmp_path / "out").glob("*.npz")] == ["cooccurrence-sum.npz"]


def test_existing_target_and_failed_writes_leave_nothing(tmp_path, monkeypatch):
    build = open_build(make_build(tmp_path, window=2))
    (tmp_path / "out").mkdir()
    with pytest.raises(BitcipherError, match="out already exists"):
        write_counts(build, tmp_path / "out")
    before = sorted(tmp_path.iterdir())

    def fail(matrices):
        raise OSError(28, "No space left on device")

    with pytest.raises(BitcipherError, match="No space left"):
        write_counts(build, tmp_path / "new", fail)
    assert sorted(tmp_path.iterdir()) == before


def test_counts_are_no_format_of_vectors(tmp_path):
    with pytest.raises(BitcipherError, match="bitcipher export BUILD --format counts"):
        CipherVectors(["cat"], [[1.0]]).export("counts", tmp_path / "out")

import ctypes
import hashlib
import json
import mmap
import os

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import safetensors.numpy
from hypothesis import given, settings
from hypothesis import strategies as st

from bitcipher.errors import BitcipherError
from bitcipher.files import json_files, storage
from bitcipher.vectors.cipher_vectors import CipherVectors

ODD_WORDS = ["the", "New York", "a\nb", "\t", "", " ", "\x00", '"', "na\u00efve", "e\u0301", "\u00e9", "日本"]
ODD_WORDS += ["\U0001f3f3\ufe0f\u200d\U0001f308", "<oov>"]


def make_table(words=ODD_WORDS, **parts) -> CipherVectors:
    rows = np.random.default_rng(1).standard_normal((len(words), 3), dtype=np.float32)
    return CipherVectors(words, rows, **parts)


def make_full_table() -> CipherVectors:
    size = len(ODD_WORDS)
    return make_table(
        counts=np.arange(size, 0, -1) * 2**40,
        passages=np.arange(size, 0, -1),
        refinement={"mean": np.arange(3.0), "matrix": np.eye(3, dtype=np.float32)},
        manifest={"corpus": "Überall", "bits": 25, "seeds": [1, 2], "share": 0.1, "nested": {"a": None}},
    )


def is_mapped(array: np.ndarray) -> bool:
    owner = array
    while isinstance(owner, np.ndarray | memoryview):
        owner = owner.base if isinstance(owner, np.ndarray) else owner.obj
    return isinstance(owner, mmap.mmap)


def assert_same(first: CipherVectors, second: CipherVectors) -> None:
    assert first.index_to_key == second.index_to_key
    np.testing.assert_array_equal(first.vectors, second.vectors)
    np.testing.assert_array_equal(first.counts, second.counts)
    np.testing.assert_array_equal(first.passages, second.passages)
    assert (first.refinement or {}).keys() == (second.refinement or {}).keys()
    for name, array in (first.refinement or {}).items():
        assert array.dtype == second.refinement[name].dtype
        np.testing.assert_array_equal(array, second.refinement[name])
    assert first.manifest == second.manifest


@pytest.mark.parametrize("mmap", [True, False])
@pytest.mark.parametrize("make", [make_table, make_full_table])
def test_local_folder_round_trip(tmp_path, make, mmap):
    table = make()
    table.save(tmp_path / "below" / "table")
    assert_same(table, CipherVectors.load(tmp_path / "below" / "table", mmap=mmap))
    assert os.listdir(tmp_path / "below") == ["table"]


def test_remote_folder_round_trip():
    table = make_full_table()
    table.save("memory://vectors/table/")
    assert_same(table, CipherVectors.load("memory://vectors/table"))
    with pytest.raises(BitcipherError, match="already exists"):
        table.save("memory://vectors/table")
    make_table().save("memory://vectors/table", overwrite=True)
    assert_same(make_table(), CipherVectors.load("memory://vectors/table"))
    assert {name.split("/")[0] for name in storage.list_files("memory://vectors")} == {"table"}
    storage.remove("memory://vectors")


@settings(max_examples=30, deadline=None)
@given(st.lists(st.text(st.characters(codec="utf-8")), min_size=1, unique=True))
def test_any_words_read_back(words):
    uri = "memory://any-words"
    table = make_table(words)
    table.save(uri, overwrite=True)
    assert CipherVectors.load(uri).index_to_key == words
    storage.remove(uri)


def test_vectors_are_memory_mapped_and_read_only(tmp_path):
    make_table().save(tmp_path / "table")
    mapped = CipherVectors.load(tmp_path / "table")
    assert is_mapped(mapped.vectors)
    assert not mapped.vectors.flags.writeable
    with pytest.raises(ValueError, match="read-only"):
        mapped["the"][0] = 0
    assert not is_mapped(CipherVectors.load(tmp_path / "table", mmap=False).vectors)
    assert mapped.most_similar("the") == make_table().most_similar("the")


@pytest.mark.parametrize("file_bytes", [1 << 30, 1 << 16], ids=["one file", "several files"])
def test_arrays_that_are_changed_leave_the_files_unchanged(tmp_path, monkeypatch, file_bytes):
    monkeypatch.setattr("bitcipher.table.vector_files.MAX_FILE_BYTES", file_bytes)
    words = [f"w{row}" for row in range(5_000)]
    rows = np.random.default_rng(3).standard_normal((len(words), 16)).astype(np.float32)
    CipherVectors(words, rows).save(tmp_path / "table")
    contents = {path.name: path.read_bytes() for path in (tmp_path / "table").iterdir()}
    mapped = CipherVectors.load(tmp_path / "table")
    assert is_mapped(mapped.vectors)
    # torch and C libraries ignore the flag of NumPy.
    address, nbytes = mapped.vectors.ctypes.data, mapped.vectors.nbytes
    ctypes.memset(address, 0, nbytes)
    assert not mapped.vectors.any()
    assert {path.name: path.read_bytes() for path in (tmp_path / "table").iterdir()} == contents
    np.testing.assert_array_equal(CipherVectors.load(tmp_path / "table", verify=True).vectors, rows)


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_values_that_are_not_finite_are_refused(tmp_path, value):
    rows = np.ones((3, 2), np.float32)
    rows[1, 1] = value
    with pytest.raises(BitcipherError, match="vector of 'cat'"):
        CipherVectors(["the", "cat", "dog"], rows)
    with pytest.raises(BitcipherError, match="'mean' holds a value that is not finite"):
        CipherVectors(["the"], [[1, 2]], refinement={"mean": np.array([1, value])})
    words = pa.array(["the", "cat", "dog"], pa.large_string())
    mapped = CipherVectors.from_mapped(words, rows, None, None, None, {})
    with pytest.raises(BitcipherError, match="vector of 'cat'"):
        mapped.save(tmp_path / "table")
    assert not (tmp_path / "table").exists()


def test_stored_values_that_are_not_finite_are_found(tmp_path, monkeypatch):
    rows = np.ones((2, 2), np.float32)
    rows[1, 1] = np.nan
    words = pa.array(["the", "cat"], pa.large_string())
    table = CipherVectors.from_mapped(words, rows, None, None, None, {})
    with monkeypatch.context() as patched:
        patched.setattr(CipherVectors, "norms", np.ones(2))
        table.save(tmp_path / "table")
    for settings_of_load in ({"verify": True}, {"mmap": False}):
        with pytest.raises(BitcipherError, match=r"table cannot be used: The vector of 'cat'"):
            CipherVectors.load(tmp_path / "table", **settings_of_load)
    with pytest.raises(BitcipherError, match="vector of 'cat'"):
        CipherVectors.load(tmp_path / "table").most_similar("the")


def test_other_libraries_read_the_files(tmp_path):
    table = make_full_table()
    table.save(tmp_path / "table")
    tensors = safetensors.numpy.load_file(tmp_path / "table" / "vectors.safetensors")
    assert list(tensors) == ["vectors"]
    np.testing.assert_array_equal(tensors["vectors"], table.vectors)
    expected = safetensors.numpy.save({"vectors": np.asarray(table.vectors)})
    assert (tmp_path / "table" / "vectors.safetensors").read_bytes() == expected
    columns = pq.read_table(tmp_path / "table" / "words.parquet").to_pydict()
    assert columns == {
        "word": ODD_WORDS,
        "count": table.counts.tolist(),
        "passages": table.passages.tolist(),
    }
    assert safetensors.numpy.load_file(tmp_path / "table" / "refinement.safetensors").keys() == {
        "mean",
        "matrix",
    }


def test_missing_columns_stay_missing(tmp_path):
    make_table(counts=np.ones(len(ODD_WORDS), int)).save(tmp_path / "table")
    assert pq.read_schema(tmp_path / "table" / "words.parquet").names == ["word", "count"]
    assert sorted(os.listdir(tmp_path / "table")) == ["manifest.json", "vectors.safetensors", "words.parquet"]


def test_equal_tables_give_equal_bytes(tmp_path):
    for name in "ab":
        make_full_table().save(tmp_path / name)
    for path in (tmp_path / "a").iterdir():
        assert path.read_bytes() == (tmp_path / "b" / path.name).read_bytes()


def test_table_of_several_blocks_round_trip(tmp_path, monkeypatch):
    monkeypatch.setattr("bitcipher.table.safetensors_file.WRITE_BYTES", 24)  # two rows
    table = CipherVectors(ODD_WORDS, np.asfortranarray(make_table().vectors))
    table.save(tmp_path / "table")
    assert_same(table, CipherVectors.load(tmp_path / "table"))


def test_manifest_has_format_sizes_and_digests(tmp_path):
    make_full_table().save(tmp_path / "table")
    manifest = json.loads((tmp_path / "table" / "manifest.json").read_text("utf-8"))
    assert manifest["format"] == "bitcipher-vectors/7"
    assert (manifest["words"], manifest["vector_size"]) == (len(ODD_WORDS), 3)
    assert manifest["provenance"] == make_full_table().manifest
    for name, entry in manifest["files"].items():
        data = (tmp_path / "table" / name).read_bytes()
        assert entry == {"bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}


def test_files_of_the_safetensors_library_are_read(tmp_path):
    make_table().save(tmp_path / "table")
    rows = np.arange(len(ODD_WORDS) * 3, dtype=np.float32).reshape(-1, 3)
    safetensors.numpy.save_file(
        {"another": np.ones(5), "vectors": rows},
        tmp_path / "table" / "vectors.safetensors",
        {"made": "by hand"},
    )
    manifest = tmp_path / "table" / "manifest.json"
    content = json_files.read(str(manifest))
    data = (tmp_path / "table" / "vectors.safetensors").read_bytes()
    content["files"]["vectors.safetensors"] = {"bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}
    json_files.write(str(manifest), content)
    for mapped in (True, False):
        np.testing.assert_array_equal(CipherVectors.load(tmp_path / "table", mmap=mapped).vectors, rows)


def test_overwrite_replaces_only_folders_of_vectors(tmp_path):
    first, second = make_table(["a", "b"]), make_table(["c", "d"])
    first.save(tmp_path / "table")
    with pytest.raises(BitcipherError, match="already exists"):
        second.save(tmp_path / "table")
    assert_same(first, CipherVectors.load(tmp_path / "table"))
    second.save(tmp_path / "table", overwrite=True)
    assert_same(second, CipherVectors.load(tmp_path / "table"))
    CipherVectors.load(tmp_path / "table").save(tmp_path / "table", overwrite=True)  # onto its own memory map
    assert_same(second, CipherVectors.load(tmp_path / "table"))

    (tmp_path / "thesis").mkdir()
    (tmp_path / "thesis" / "chapter.txt").write_text("years of work")
    with pytest.raises(BitcipherError, match="not overwritten"):
        second.save(tmp_path / "thesis", overwrite=True)
    assert (tmp_path / "thesis" / "chapter.txt").read_text() == "years of work"
    assert sorted(os.listdir(tmp_path)) == ["table", "thesis"]


@pytest.mark.parametrize("manifest", [{"a": {1, 2}}, {"a": float("nan")}, {"a": "\ud800"}])
def test_manifest_that_json_cannot_hold_leaves_no_files(tmp_path, manifest):
    with pytest.raises(BitcipherError, match="JSON"):
        make_table(manifest=manifest).save(tmp_path / "table")
    assert os.listdir(tmp_path) == []


def test_failed_write_leaves_no_files(tmp_path):
    (tmp_path / "file").write_text("a file")
    with pytest.raises(BitcipherError, match="Cannot write"):
        make_table().save(tmp_path / "file" / "table")
    with pytest.raises(BitcipherError, match="already exists"):
        make_table().save(tmp_path / "file")
    assert os.listdir(tmp_path) == ["file"]

"""Folders whose vectors are several files with an index."""

import hashlib
import json
import shutil

import numpy as np
import pytest
import safetensors.numpy
from hypothesis import given, settings
from hypothesis import strategies as st

from bitcipher.errors import BitcipherError
from bitcipher.files import json_files, storage
from bitcipher.table import vector_files
from bitcipher.table.manifest import TableManifest
from bitcipher.table.vector_files import plan_files, vectors_digest
from bitcipher.vectors.cipher_vectors import CipherVectors

INDEX = "vectors.safetensors.index.json"


@pytest.fixture(autouse=True)
def small_files(monkeypatch):
    """Files of at most 64 rows with 64 dimensions."""
    monkeypatch.setattr(vector_files, "MAX_FILE_BYTES", 1 << 14)
    monkeypatch.setattr(vector_files, "PAGE_BYTES", 1 << 12)


def make_table(words=150, vector_size=64):
    rows = np.random.default_rng(words).normal(size=(words, vector_size)).astype(np.float32)
    return CipherVectors([f"w{row}" for row in range(words)], rows, np.arange(words)[::-1], refinement={"mean": rows})


@pytest.fixture
def folder(tmp_path):
    make_table().save(tmp_path / "table")
    return tmp_path / "table"


def update_manifest(folder, removed=None):
    """Update the sizes and digests of the manifest to those of the files."""
    manifest = json_files.read(str(folder / "manifest.json"))
    manifest["files"].pop(removed, None)
    for name, entry in manifest["files"].items():
        data = (folder / name).read_bytes()
        entry.update(bytes=len(data), sha256=hashlib.sha256(data).hexdigest())
    json_files.write(str(folder / "manifest.json"), manifest)


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 400), st.integers(1, 80))
def test_any_shape_reads_back_from_disk_and_store(tmp_path_factory, words, vector_size):
    table = make_table(words, vector_size)
    path = tmp_path_factory.mktemp("any") / "table"
    for uri in (str(path), "memory://several-files"):
        table.save(uri, overwrite=True)
        for mmap in (True, False):
            loaded = CipherVectors.load(uri, mmap=mmap, verify=True)
            assert loaded.vectors.tobytes() == table.vectors.tobytes()
            assert not loaded.vectors.flags.writeable
            assert loaded.index_to_key == table.index_to_key
    sizes = storage.list_files(str(path))
    files = [name for name in sizes if name.endswith(".safetensors") and name.startswith("vectors")]
    assert sorted(files) == [file.name for file in plan_files(words, vector_size)]
    assert (INDEX in sizes) == (len(files) > 1)
    shutil.rmtree(path)


def test_other_libraries_read_the_index_and_the_files(folder):
    index = json.loads((folder / INDEX).read_text())
    assert index["metadata"]["total_size"] == 150 * 64 * 4
    rows = []
    for tensor, name in index["weight_map"].items():
        tensors = safetensors.numpy.load_file(folder / name)
        assert list(tensors) == [tensor]
        assert hashlib.sha256((folder / name).read_bytes()).hexdigest() == index["metadata"]["sha256"][name]
        rows.append(tensors[tensor])
    assert [len(block) for block in rows] == [64, 64, 22]
    np.testing.assert_array_equal(np.vstack(rows), make_table().vectors)


def test_transformers_finds_the_files_of_the_index(folder):
    hub = pytest.importorskip("transformers.utils.hub")
    files, _ = hub.get_checkpoint_shard_files(str(folder), str(folder / INDEX))
    assert [file.rpartition("/")[2] for file in files] == [f"vectors-0000{n}-of-00003.safetensors" for n in (1, 2, 3)]


def test_mapped_files_are_one_array_that_outlives_its_folder(folder):
    vectors = CipherVectors.load(folder)
    expected = make_table()
    assert vectors.most_similar("w70") == expected.most_similar("w70")
    shutil.rmtree(folder)
    np.testing.assert_array_equal(vectors.vectors[::-1], expected.vectors[::-1])


def test_exports_read_several_files(folder, tmp_path):
    CipherVectors.load(folder).export("word2vec-binary", tmp_path / "several.bin")
    make_table().export("word2vec-binary", tmp_path / "one.bin")
    assert (tmp_path / "several.bin").read_bytes() == (tmp_path / "one.bin").read_bytes()
    assert CipherVectors.load(folder).to_gensim().vectors.tobytes() == make_table().vectors.tobytes()


def test_overwriting_replaces_several_files_by_one_and_one_by_several(folder, tmp_path):
    small = make_table(10)
    small.save(folder, overwrite=True)
    assert sorted(path.name for path in folder.iterdir()) == [
        "manifest.json",
        "refinement.safetensors",
        "vectors.safetensors",
        "words.parquet",
    ]
    CipherVectors.load(folder)
    make_table().save(folder, overwrite=True)
    CipherVectors.load(folder).save(folder, overwrite=True)  # onto its own memory map
    assert CipherVectors.load(folder).vectors.tobytes() == make_table().vectors.tobytes()


def test_digest_changes_with_any_vector(folder, tmp_path):
    table = make_table()
    rows = table.vectors.copy()
    rows[-1, -1] += 1
    CipherVectors(table.words, rows).save(tmp_path / "other")
    digests = [vectors_digest(TableManifest.read(str(path)).files) for path in (folder, tmp_path / "other")]
    assert digests[0] == hashlib.sha256((folder / INDEX).read_bytes()).hexdigest() != digests[1]


def change_value(folder):
    path = folder / "vectors-00002-of-00003.safetensors"
    content = path.read_bytes()
    path.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))


def remove_file(folder):
    (folder / "vectors-00002-of-00003.safetensors").unlink()


def forget_file(folder):
    remove_file(folder)
    update_manifest(folder, "vectors-00002-of-00003.safetensors")


def remove_index(folder):
    (folder / INDEX).unlink()


def swap_in_index(folder):
    index = json.loads((folder / INDEX).read_text())
    first, second, *_ = index["weight_map"]
    mapped = index["weight_map"]
    mapped[first], mapped[second] = mapped[second], mapped[first]
    (folder / INDEX).write_text(json.dumps(index))
    update_manifest(folder)


def swap_files(folder):
    first, second = (folder / f"vectors-0000{number}-of-00003.safetensors" for number in (1, 2))
    content = first.read_bytes()
    first.write_bytes(second.read_bytes())
    second.write_bytes(content)
    update_manifest(folder)


def forge_total(folder):
    (folder / INDEX).write_text((folder / INDEX).read_text().replace("38400", "38401"))
    update_manifest(folder)


def forge_index(folder):
    (folder / INDEX).write_text("{")
    update_manifest(folder)


def forge_rows(folder):
    path = folder / "vectors-00003-of-00003.safetensors"
    safetensors.numpy.save_file({"vectors.00003": np.ones((21, 64), np.float32)}, path)
    update_manifest(folder)


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (change_value, "SHA-256 of .*00002-of"),
        (remove_file, "00002-of-00003.safetensors is missing"),
        (forget_file, "list of files"),
        (remove_index, "index.json is missing"),
        (swap_in_index, "does not describe"),
        (swap_files, "no matrix named"),
        (forge_total, "does not describe"),
        (forge_index, "does not describe"),
        (forge_rows, "does not describe"),
    ],
)
@pytest.mark.parametrize("mmap", [True, False])
def test_damaged_folder_raises(folder, damage, message, mmap):
    damage(folder)
    with pytest.raises(BitcipherError, match=message):
        CipherVectors.load(folder, mmap=mmap, verify=True)

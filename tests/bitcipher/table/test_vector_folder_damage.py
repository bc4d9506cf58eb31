import hashlib
import os
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import safetensors.numpy
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bitcipher.errors import BitcipherError
from bitcipher.files import json_files
from bitcipher.vectors.cipher_vectors import CipherVectors

WORDS = ["the", "New York", "a\nb", "\u00e9", "<oov>"]
ROWS = np.arange(15, dtype=np.float32).reshape(5, 3)
COUNTS, PASSAGES = [9, 7, 5, 3, 2], [5, 4, 3, 2, 1]
MEAN = np.array([0.5, 1, 2])
MANIFEST = {"corpus": "\u00dcberall", "bits": 25, "share": 0.1}


@pytest.fixture(scope="module")
def original(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("original") / "table"
    CipherVectors(WORDS, ROWS, COUNTS, PASSAGES, {"mean": MEAN}, MANIFEST).save(folder)
    return folder


@pytest.fixture
def copy(original, tmp_path) -> Path:
    return shutil.copytree(original, tmp_path / "table")


def assert_unchanged(table: CipherVectors, manifest: dict[str, Any] = MANIFEST) -> None:
    assert table.index_to_key == WORDS
    np.testing.assert_array_equal(table.vectors, ROWS)
    np.testing.assert_array_equal(table.counts, COUNTS)
    np.testing.assert_array_equal(table.passages, PASSAGES)
    assert list(table.refinement) == ["mean"]
    np.testing.assert_array_equal(table.refinement["mean"], MEAN)
    assert table.manifest == manifest


def test_other_folders_raise(tmp_path):
    for path, problem in (
        (tmp_path, "a folder in none of the readable formats"),
        (tmp_path / "missing", "There is no build and no folder"),
    ):
        with pytest.raises(BitcipherError, match=problem):
            CipherVectors.load(path)
    (tmp_path / "manifest.json").write_text('{"format": "shards"}')
    with pytest.raises(BitcipherError, match="format 'shards'"):
        CipherVectors.load(tmp_path)


def update_manifest(folder: Path, **changes) -> None:
    """Update the sizes and digests of the manifest to those of the files, and change other entries."""
    manifest = json_files.read(str(folder / "manifest.json")) | changes
    for name, entry in manifest["files"].items():
        data = (folder / name).read_bytes()
        entry.update(bytes=len(data), sha256=hashlib.sha256(data).hexdigest())
    json_files.write(str(folder / "manifest.json"), manifest)


def damage_version(folder):
    update_manifest(folder, format="bitcipher-vectors/9")


def damage_json(folder):
    (folder / "manifest.json").write_text("{")


def damage_json_type(folder):
    (folder / "manifest.json").write_text("[]")


def damage_provenance(folder):
    manifest = folder / "manifest.json"
    manifest.write_bytes(manifest.read_bytes().replace(b'"bits": 25', b'"bits": 26'))


def damage_files(folder):
    update_manifest(folder, files={})


def damage_by_cutting(folder):
    os.truncate(folder / "vectors.safetensors", 100)


def damage_by_removing(folder):
    (folder / "words.parquet").unlink()


def damage_by_removing_refinement(folder):
    (folder / "refinement.safetensors").unlink()


def damage_words(folder):
    data = bytearray((folder / "words.parquet").read_bytes())
    data[len(data) // 2] ^= 1
    (folder / "words.parquet").write_bytes(data)


def damage_shape(folder):
    update_manifest(folder, vector_size=4)


def forge_words_not_parquet(folder):
    (folder / "words.parquet").write_bytes(b"no Parquet")
    update_manifest(folder)


def forge_words_fewer(folder):
    pq.write_table(pa.table({"word": ["a", "b"]}), folder / "words.parquet")
    update_manifest(folder)


def forge_words_missing(folder):
    pq.write_table(pa.table({"word": [None] * len(WORDS)}), folder / "words.parquet")
    update_manifest(folder)


def forge_words_without_column(folder):
    pq.write_table(pa.table({"token": WORDS}), folder / "words.parquet")
    update_manifest(folder)


def forge_vectors_float64(folder):
    safetensors.numpy.save_file({"vectors": np.ones((len(WORDS), 3))}, folder / "vectors.safetensors")
    update_manifest(folder)


def forge_vectors_name(folder):
    safetensors.numpy.save_file({"table": np.ones((2, 3), np.float32)}, folder / "vectors.safetensors")
    update_manifest(folder)


def forge_vectors_flat(folder):
    safetensors.numpy.save_file({"vectors": np.ones(6, np.float32)}, folder / "vectors.safetensors")
    update_manifest(folder)


def forge_vectors_short(folder):
    os.truncate(folder / "vectors.safetensors", 5)
    update_manifest(folder)


def forge_refinement(folder):
    (folder / "refinement.safetensors").write_bytes(b"no tensors")
    update_manifest(folder)


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (damage_version, "format 'bitcipher-vectors/9'"),
        (damage_json, "not a JSON object"),
        (damage_json_type, "not a JSON object"),
        (damage_provenance, "changed after it was written"),
        (damage_files, "list of files"),
        (damage_by_cutting, "has 100 bytes"),
        (damage_by_removing, "words.parquet is missing"),
        (damage_by_removing_refinement, "disagree on refinement.safetensors"),
        (damage_words, "SHA-256"),
        (damage_shape, "describes 5 x 4"),
        (forge_words_not_parquet, "not a table of words"),
        (forge_words_fewer, "holds 2 words"),
        (forge_words_missing, "missing values"),
        (forge_words_without_column, "not a table of words"),
        (forge_vectors_float64, "must be F32"),
        (forge_vectors_name, "no matrix named 'vectors'"),
        (forge_vectors_flat, "no matrix named 'vectors'"),
        (forge_vectors_short, "cut short"),
        (forge_refinement, "not a safetensors file"),
    ],
)
@pytest.mark.parametrize("mmap", [True, False])
def test_damaged_folder_raises(copy, damage, message, mmap):
    damage(copy)
    with pytest.raises(BitcipherError, match=message):
        CipherVectors.load(copy, mmap=mmap)


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_changed_and_truncated_files_raise_or_load_unchanged(original, tmp_path, data):
    folder = tmp_path / "damaged"
    shutil.copytree(original, folder, dirs_exist_ok=True)
    path = folder / data.draw(st.sampled_from(sorted(os.listdir(original))))
    content = bytearray(path.read_bytes())
    # Memory-mapped vectors are not read when they are loaded, so only the header of their file is checked.
    end = 8 + content[0] if path.name == "vectors.safetensors" else len(content)
    if data.draw(st.booleans()):
        del content[data.draw(st.integers(0, len(content) - 1)) :]
    else:
        for index in data.draw(st.lists(st.integers(0, end - 1), min_size=1, max_size=3)):
            content[index] = data.draw(st.integers(0, 255))
    path.write_bytes(content)
    try:
        table = CipherVectors.load(folder)
    except BitcipherError:
        return
    assert_unchanged(table)


def test_changed_values_raise_if_the_vectors_are_read(copy):
    path = copy / "vectors.safetensors"
    content = path.read_bytes()
    path.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
    with pytest.raises(BitcipherError, match="SHA-256"):
        CipherVectors.load(copy, mmap=False)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda children: st.lists(children, max_size=3) | st.dictionaries(st.text(max_size=5), children, max_size=3),
    max_leaves=5,
)


def all_paths(value, path=()):
    """Yield the paths of all values in nested objects, except the root."""
    for key, child in value.items():
        yield (*path, key)
        if isinstance(child, dict):
            yield from all_paths(child, (*path, key))


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_changed_manifests_raise_or_load_unchanged(original, tmp_path, data):
    folder = tmp_path / "changed"
    shutil.copytree(original, folder, dirs_exist_ok=True)
    manifest = json_files.read(str(original / "manifest.json"))
    *parents, key = data.draw(st.sampled_from(list(all_paths(manifest))))
    holder = manifest
    for parent in parents:
        holder = holder[parent]
    match data.draw(st.sampled_from(["remove", "replace", "add"])):
        case "remove":
            del holder[key]
        case "replace":
            holder[key] = data.draw(json_values)
        case "add":
            holder[data.draw(st.text(max_size=5))] = data.draw(json_values)
    # The checksum is that of the changed manifest, so that the other checks have to find the change.
    json_files.write(str(folder / "manifest.json"), manifest)
    try:
        table = CipherVectors.load(folder)
    except BitcipherError as error:
        assert "manifest.json" in str(error) or str(folder) in str(error)  # noqa: PT017 - an error is one of two outcomes
        return
    is_provenance = "provenance" in (*parents[:1], key)
    assert_unchanged(table, table.manifest if is_provenance else MANIFEST)

import hashlib
import json
import os
import shutil
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import safetensors.numpy
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bitcipher.errors import BitcipherError
from bitcipher.vectors import CipherVectors

WORDS = ["the", "New York", "a\nb", "\u00e9", "<oov>"]
ROWS = np.arange(15, dtype=np.float32).reshape(5, 3)
COUNTS, PASSAGES = [9, 7, 5, 3, 2], [5, 4, 3, 2, 1]
MEAN = np.array([0.5, 1, 2])
MANIFEST = {"corpus": "\u00dcberall", "bits": 25, "share": 0.1}


@pytest.fixture(scope="module")
def whole(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("whole") / "table"
    CipherVectors(WORDS, ROWS, COUNTS, PASSAGES, {"mean": MEAN}, MANIFEST).save(folder)
    return folder


@pytest.fixture
def copy(whole, tmp_path) -> Path:
    return shutil.copytree(whole, tmp_path / "table")


def assert_right(table: CipherVectors) -> None:
    assert table.index_to_key == WORDS
    np.testing.assert_array_equal(table.vectors, ROWS)
    np.testing.assert_array_equal(table.counts, COUNTS)
    np.testing.assert_array_equal(table.passages, PASSAGES)
    assert list(table.refinement) == ["mean"]
    np.testing.assert_array_equal(table.refinement["mean"], MEAN)
    assert table.manifest == MANIFEST


def test_what_is_no_folder_of_vectors_is_told(tmp_path):
    for path in (tmp_path, tmp_path / "missing"):
        with pytest.raises(BitcipherError, match=r"holds no manifest\.json"):
            CipherVectors.load(path)
    (tmp_path / "manifest.json").write_text('{"format": "shards"}')
    with pytest.raises(BitcipherError, match="names the format 'shards'"):
        CipherVectors.load(tmp_path)


def agree_again(folder: Path, **changes) -> None:
    """Give the manifest the sizes and digests of the files as they are now, and other entries."""
    manifest = json.loads((folder / "manifest.json").read_text("utf-8")) | changes
    for name, entry in manifest["files"].items():
        data = (folder / name).read_bytes()
        entry.update(bytes=len(data), sha256=hashlib.sha256(data).hexdigest())
    (folder / "manifest.json").write_text(json.dumps(manifest), "utf-8")


def damage_version(folder):
    agree_again(folder, format="bitcipher-vectors/2")


def damage_json(folder):
    (folder / "manifest.json").write_text("{")


def damage_json_type(folder):
    (folder / "manifest.json").write_text("[]")


def damage_provenance(folder):
    agree_again(folder, provenance={"bits": 26})


def damage_files(folder):
    agree_again(folder, files={})


def damage_by_cutting(folder):
    os.truncate(folder / "vectors.safetensors", 100)


def damage_by_removing(folder):
    (folder / "words.parquet").unlink()


def damage_refinement_gone(folder):
    (folder / "refinement.safetensors").unlink()


def damage_words(folder):
    data = bytearray((folder / "words.parquet").read_bytes())
    data[len(data) // 2] ^= 1
    (folder / "words.parquet").write_bytes(data)


def damage_shape(folder):
    agree_again(folder, dimensions=4)


def forge_words_not_parquet(folder):
    (folder / "words.parquet").write_bytes(b"no Parquet")
    agree_again(folder)


def forge_words_fewer(folder):
    pq.write_table(pa.table({"word": ["a", "b"]}), folder / "words.parquet")
    agree_again(folder)


def forge_words_missing(folder):
    pq.write_table(pa.table({"word": [None] * len(WORDS)}), folder / "words.parquet")
    agree_again(folder)


def forge_words_without_column(folder):
    pq.write_table(pa.table({"token": WORDS}), folder / "words.parquet")
    agree_again(folder)


def forge_vectors_float64(folder):
    safetensors.numpy.save_file({"vectors": np.ones((len(WORDS), 3))}, folder / "vectors.safetensors")
    agree_again(folder)


def forge_vectors_name(folder):
    safetensors.numpy.save_file({"table": np.ones((2, 3), np.float32)}, folder / "vectors.safetensors")
    agree_again(folder)


def forge_vectors_flat(folder):
    safetensors.numpy.save_file({"vectors": np.ones(6, np.float32)}, folder / "vectors.safetensors")
    agree_again(folder)


def forge_vectors_short(folder):
    os.truncate(folder / "vectors.safetensors", 5)
    agree_again(folder)


def forge_refinement(folder):
    (folder / "refinement.safetensors").write_bytes(b"no tensors")
    agree_again(folder)


@pytest.mark.parametrize(
    ("damage", "says"),
    [
        (damage_version, "written as 'bitcipher-vectors/2'"),
        (damage_json, "not a JSON object"),
        (damage_json_type, "not a JSON object"),
        (damage_provenance, "changed after it was written"),
        (damage_files, "list of files"),
        (damage_by_cutting, "has 100 bytes, but manifest.json says"),
        (damage_by_removing, "words.parquet is missing"),
        (damage_refinement_gone, "disagree on refinement.safetensors"),
        (damage_words, "has not the SHA-256"),
        (damage_shape, "do not agree"),
        (forge_words_not_parquet, "not a table of words"),
        (forge_words_fewer, "holds 2 words"),
        (forge_words_missing, "missing values"),
        (forge_words_without_column, "not a table of words"),
        (forge_vectors_float64, "should be F32"),
        (forge_vectors_name, "names no matrix 'vectors'"),
        (forge_vectors_flat, "names no matrix 'vectors'"),
        (forge_vectors_short, "cut short"),
        (forge_refinement, "not a safetensors file"),
    ],
)
@pytest.mark.parametrize("mmap", [True, False])
def test_damage_is_told_in_a_sentence(copy, damage, says, mmap):
    damage(copy)
    with pytest.raises(BitcipherError, match=says):
        CipherVectors.load(copy, mmap=mmap)


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_flipped_and_cut_bytes_give_an_error_or_the_right_table(whole, tmp_path, data):
    folder = tmp_path / "damaged"
    shutil.copytree(whole, folder, dirs_exist_ok=True)
    path = folder / data.draw(st.sampled_from(sorted(os.listdir(whole))))
    content = bytearray(path.read_bytes())
    # Mapped vectors are not read when loaded, so of their file only the head is sure to be checked.
    end = 8 + content[0] if path.name == "vectors.safetensors" else len(content)
    if data.draw(st.booleans()):
        del content[data.draw(st.integers(0, len(content) - 1)) :]
    else:
        for place in data.draw(st.lists(st.integers(0, end - 1), min_size=1, max_size=3)):
            content[place] = data.draw(st.integers(0, 255))
    path.write_bytes(content)
    try:
        table = CipherVectors.load(folder)
    except BitcipherError:
        return
    assert_right(table)


def test_flipped_values_are_found_when_the_vectors_are_read_whole(copy):
    path = copy / "vectors.safetensors"
    content = path.read_bytes()
    path.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
    with pytest.raises(BitcipherError, match="has not the SHA-256"):
        CipherVectors.load(copy, mmap=False)

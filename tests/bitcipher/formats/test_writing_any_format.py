"""Properties of all formats: words read back or are refused, equal bytes, and no partial output."""

import os
import re
from importlib import import_module

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from bitcipher import BitcipherError, CipherVectors
from bitcipher.files import storage
from bitcipher.formats import row_blocks
from bitcipher.formats.reader import read
from bitcipher.formats.registry import FORMATS
from bitcipher.formats.writer import write

# Without spacy, which takes half a second to write. `test_spacy_loads_the_folder` has the unusual words.
FAST = [name for name, each in FORMATS.items() if each.can_read and name not in ("spacy", "embedding-atlas")]

tables = st.lists(st.text(st.characters(codec="utf-8"), max_size=6), min_size=1, max_size=6, unique=True).flatmap(
    lambda words: st.tuples(
        st.just(words),
        arrays(np.float32, (len(words), 3), elements=st.floats(-(2.0**99), 2.0**99, width=32)),
    )
)


def content(path) -> dict[str, bytes]:
    if path.is_file():
        return {"": path.read_bytes()}
    return {str(file.relative_to(path)): file.read_bytes() for file in path.rglob("*") if file.is_file()}


@pytest.mark.parametrize("name", FAST)
@settings(max_examples=60)
@given(tables)
def test_every_word_reads_back_or_is_refused(tmp_path_factory, name, words_and_rows):
    words, rows = words_and_rows
    target = tmp_path_factory.mktemp("odd") / "out"
    refused = any(FORMATS[name].refused.search(word) for word in words)
    if refused:
        with pytest.raises(BitcipherError, match="cannot represent the word"):
            write(CipherVectors(words, rows), name, target)
        assert os.listdir(target.parent) == []
        return
    write(CipherVectors(words, rows), name, target)
    # Format detection is tested with ordinary words.
    back = read(target, format=name)
    assert back.index_to_key[: len(words)] == words
    assert back.vectors[: len(words)].tobytes() == rows.tobytes()
    assert back.index_to_key[len(words) :] in ([], ["<oov>"])


@pytest.mark.parametrize("name", FORMATS)
def test_block_size_does_not_change_the_bytes(tmp_path, table, name, monkeypatch):
    progress = []
    write(table, name, tmp_path / "below" / "one", progress.append)
    (tmp_path / "below" / "one").rename(tmp_path / "one")
    assert os.listdir(tmp_path / "below") == []
    assert sum(progress) == len(table)
    again = CipherVectors(table.index_to_key, table.vectors.copy(), table.counts, table.passages)
    write(again, name, tmp_path / "two")
    assert content(tmp_path / "one") == content(tmp_path / "two")
    if name not in ("parquet", "embedding-atlas"):  # their row groups are the blocks
        monkeypatch.setattr(row_blocks, "BLOCK_BYTES", 1000)
        write(table, name, tmp_path / "three")
        assert content(tmp_path / "one") == content(tmp_path / "three")


@pytest.mark.parametrize("name", FORMATS)
def test_stores_get_the_same_bytes(tmp_path, table, name):
    write(table, name, tmp_path / "local")
    uri = f"memory://formats/any/{name}"
    write(table, name, uri)
    stored = {path.removeprefix("."): storage.read_bytes(storage.join(uri, path)) for path in storage.list_files(uri)}
    expected = content(tmp_path / "local")
    if expected.keys() == {""}:
        stored = {"": storage.read_bytes(uri)}
    assert stored == expected
    assert [path for path in storage.list_files("memory://formats/any") if ".tmp" in path] == []


@pytest.mark.parametrize("name", FORMATS)
def test_existing_targets_are_not_overwritten(tmp_path, table, name):
    (tmp_path / "out").write_text("mine")
    with pytest.raises(BitcipherError, match="already exists"):
        write(table, name, tmp_path / "out")
    assert (tmp_path / "out").read_text() == "mine"


# spaCy's folder is complete before the first progress callback.
@pytest.mark.parametrize("name", [name for name in FORMATS if name != "spacy"])
def test_targets_that_appear_during_the_export_are_kept(tmp_path, table, name):
    with pytest.raises(BitcipherError, match="already exists"):
        write(table, name, tmp_path / "out", lambda rows: (tmp_path / "out").write_text("mine"))
    assert os.listdir(tmp_path) == ["out"]
    assert (tmp_path / "out").read_text() == "mine"


@pytest.mark.parametrize("name", [name for name in FORMATS if name != "spacy"])
def test_failed_writes_leave_no_files(tmp_path, table, name):
    def fail(rows):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write(table, name, tmp_path / "out", fail)
    assert os.listdir(tmp_path) == []


def test_values_that_are_not_finite_raise(tmp_path):
    rows = np.array([[1, 2], [np.nan, 3]], np.float32)
    bad = CipherVectors.from_mapped(pa.array(["a", "b"], pa.large_string()), rows, None, None, None, {})
    for name in FORMATS:
        with pytest.raises(BitcipherError, match="'b'"):
            write(bad, name, tmp_path / "out")


def test_refused_word_lists_the_formats_that_can_represent_it(tmp_path):
    with pytest.raises(BitcipherError, match="cannot represent the word 'new york'") as error:
        CipherVectors(["the", "new york"], np.eye(2)).export("word2vec", tmp_path / "out")
    able = re.search("can: (.*)[.]$", str(error.value))[1].split(", ")
    for name in able:
        CipherVectors(["the", "new york"], np.eye(2)).export(name, tmp_path / name)
    assert {"parquet", "numpy", "huggingface"} <= set(able)
    assert not {"word2vec", "glove", "fasttext"} & set(able)


@pytest.mark.parametrize("name", FORMATS)
def test_each_module_has_a_writer_and_a_reader_if_it_can_be_read(name):
    module = import_module(f"bitcipher.formats.{FORMATS[name].module}")
    assert callable(module.write)
    assert hasattr(module, "read") == FORMATS[name].can_read


@pytest.mark.parametrize("name", [name for name, each in FORMATS.items() if each.can_read])
def test_exported_files_are_detected(tmp_path, table, name):
    write(table, name, tmp_path / "out")
    assert set(read(tmp_path / "out").words.to_pylist()) >= set(table.index_to_key) - {"<oov>", "zero"}


def test_unknown_formats_raise(tmp_path, table):
    with pytest.raises(BitcipherError, match="choose from word2vec"):
        table.export("word3vec", tmp_path / "out")
    with pytest.raises(BitcipherError, match="sentence-transformers"):
        table.export("model2vec", tmp_path / "out")

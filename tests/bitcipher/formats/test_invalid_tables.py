"""Arrays, columns and rows that are not those of a table: each is refused with a sentence that names the file."""

import json
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import safetensors.numpy
import srsly

from bitcipher import BitcipherError, CipherVectors
from bitcipher.formats.table_builder import MAX_VECTOR_SIZE
from bitcipher.formats.writer import write
from bitcipher.table.vector_table import VectorTable

WORDS = ["the", "cat"]
ROWS = np.array([[1, 2], [3, 4]], np.float32)


def check_refused(path: Path, expected: str) -> None:
    with warnings.catch_warnings(action="error"), pytest.raises(BitcipherError, match=expected) as error:
        CipherVectors.load(path)
    assert str(path) in str(error.value)


def write_arrays(folder: Path, vectors: np.ndarray, counts: np.ndarray | None = None) -> Path:
    folder.mkdir()
    (folder / "words.txt").write_text("the\ncat\n")
    np.save(folder / "vectors.npy", vectors)
    if counts is not None:
        np.save(folder / "counts.npy", counts)
    return folder


@pytest.mark.parametrize(
    ("vectors", "expected"),
    [
        (ROWS.astype(np.complex64), "real numbers, got the type complex64"),
        (ROWS.astype(object), "not a numeric array"),
        (ROWS.astype(str), "real numbers, got the type <U"),
        (ROWS.astype("M8[s]"), "real numbers, got the type datetime64"),
        (np.zeros(2, [("a", "<f4")]), "real numbers, got the type"),
        (np.array([[np.nan, 1], [1, 2]], np.float16), "'the' .* not finite"),
        (np.array([[1, 1], [1e300, 2]]), "'cat' .* not finite"),
        (np.array(1.0), "got the shape"),
    ],
    ids=["complex", "objects", "strings", "times", "structured", "float16", "float64", "scalar"],
)
def test_arrays_of_other_types_are_refused(tmp_path, vectors, expected):
    check_refused(write_arrays(tmp_path / "folder", vectors), expected)


@pytest.mark.parametrize("shape", [(10**12, 10**5), (2**70, 2), (-2, -2)])
def test_absurd_shapes_are_refused(tmp_path, shape):
    folder = write_arrays(tmp_path / "folder", ROWS)
    with (folder / "vectors.npy").open("wb") as stream:
        np.lib.format.write_array_header_1_0(stream, {"descr": "<f4", "fortran_order": False, "shape": shape})
        stream.write(ROWS.tobytes())
    check_refused(folder, "not a numeric array, or it is damaged")


@pytest.mark.parametrize(
    ("counts", "expected"),
    [
        (np.array([3, -1]), "`counts` must hold integers from 0 .* row 1 has"),
        (np.array([2**63, 1], np.uint64), "`counts` must hold integers from 0 .* row 0 has"),
        (np.array([1j, 2]), "`counts` must hold one integer"),
        (np.array([1.0, 2.0]), "`counts` must hold one integer"),
    ],
)
def test_invalid_counts_are_refused(tmp_path, counts, expected):
    check_refused(write_arrays(tmp_path / "folder", ROWS, counts), expected)
    with pytest.raises(BitcipherError, match=expected):
        VectorTable(WORDS, ROWS, counts)


def test_negative_counts_of_gensim_are_refused():
    from gensim.models import KeyedVectors

    keyed = KeyedVectors(2)
    keyed.add_vectors(WORDS, ROWS)
    keyed.set_vecattr("the", "count", -5)
    with pytest.raises(BitcipherError, match="row 0 has"):
        CipherVectors.from_gensim(keyed)


def write_parquet(path: Path, **columns: Any) -> Path:
    """Write columns of words and vectors, and others; a name that ends in _2 is a second column of the name."""
    columns = {"word": WORDS, "vector": pa.array(ROWS.tolist(), pa.list_(pa.float32())), **columns}
    arrays = [pa.array(column) for column in columns.values()]
    pq.write_table(pa.Table.from_arrays(arrays, [name.removesuffix("_2") for name in columns]), path)
    return path


@pytest.mark.parametrize("name", ["word", "vector", "count", "note"])
def test_two_columns_of_a_name_are_refused(tmp_path, name):
    columns = {"count": [2, 1], "note": ["a", "b"], f"{name}_2": {"vector": ROWS.tolist()}.get(name, [2, 1])}
    check_refused(write_parquet(tmp_path / "file", **columns), f"has 2 columns named '{name}'")


@pytest.mark.parametrize(
    ("columns", "expected"),
    [
        ({"count": [-1, 2]}, "row 0 has"),
        ({"passages": [1, -2]}, "`passages` .* row 1 has"),
        ({"count": pa.array([2**63, 2], pa.uint64())}, "not in range"),
        ({"count": [1.5, 2.0]}, "not a table of words and vectors"),
        ({"count": ROWS.tolist()}, "not a table of words and vectors"),
        ({"vector": [["1", "2"], ["3", "4"]]}, "must hold lists of numbers"),
        ({"vector": [[True], [False]]}, "must hold lists of numbers"),
        ({"vector": [{"a": 1.0}, {"a": 2.0}]}, "must hold lists of numbers"),
        ({"vector": [[[1.0]], [[2.0]]]}, "must hold lists of numbers"),
        ({"vector": [1.0, 2.0]}, "must hold lists of numbers"),
        ({"vector": [[1e300], [1.0]]}, "'the' .* not finite"),
        ({"vector": pa.array([[np.float16("nan")], [np.float16(1)]], pa.list_(pa.float16()))}, "'the' .* not finite"),
    ],
)
def test_columns_of_other_types_are_refused(tmp_path, columns, expected):
    check_refused(write_parquet(tmp_path / "file", **columns), expected)


def test_words_that_are_not_utf8_are_refused(tmp_path):
    path = write_parquet(tmp_path / "file", word=["Zürich", "Genf"])
    path.write_bytes(path.read_bytes().replace("ü".encode(), b"\xfc "))
    check_refused(path, "The words must be a list of strings: Invalid UTF8")


@pytest.fixture(scope="module")
def pipeline(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("pipeline") / "folder"
    write(VectorTable(WORDS, ROWS), "spacy", folder)
    return folder


@pytest.mark.parametrize("row", [-1, 2, 2**63, 1.0, True, [0]])
def test_rows_outside_of_spacys_table_are_refused(pipeline, row):
    path = pipeline / "vocab" / "key2row"
    before = path.read_bytes()
    keys = list(srsly.read_msgpack(path))
    try:
        srsly.write_msgpack(path, {keys[0]: row, keys[1]: 0})
        check_refused(pipeline, r"gives the word '\w+' the row .*, but its table has 2 rows|no readable word vectors")
        srsly.write_msgpack(path, {-1: 0})
        check_refused(pipeline, "no readable word vectors")
    finally:
        path.write_bytes(before)


@pytest.mark.parametrize(
    "tensors",
    [
        {"embeddings": ROWS.astype(np.complex64)},
        {"embeddings": ROWS.astype(bool)},
        {"embeddings": np.array(1.0)},
        {"embeddings": np.array(1.0), "mapping": np.array([0, 0])},
        {"embeddings": ROWS, "weights": np.array([1e300, 1])},
    ],
)
def test_tensors_of_other_types_are_refused(tmp_path, tensors):
    (tmp_path / "tokenizer.json").write_text(json.dumps({"model": {"vocab": {"the": 0, "cat": 1}}}))
    safetensors.numpy.save_file(tensors, tmp_path / "model.safetensors")
    check_refused(tmp_path, "has no matrix of numbers|not finite")


@pytest.mark.parametrize("header", [b"", b"1 300000\n", b"999999999999999999 999999999999999999\n"])
@pytest.mark.parametrize("separator", [b" ", b"\t"])
def test_lines_with_too_many_columns_are_refused(tmp_path, header, separator):
    path = tmp_path / "file"
    path.write_bytes(header + b"the" + (separator + b"0") * (MAX_VECTOR_SIZE + 1) + b"\n")
    check_refused(path, f"has more than {MAX_VECTOR_SIZE:,} spaces and tabs")


def test_the_widest_table_is_read(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(b"".join(b"%s%s\n" % (word, b" 0.5" * MAX_VECTOR_SIZE) for word in (b"the", b"cat")))
    assert CipherVectors.load(path).vectors.shape == (2, MAX_VECTOR_SIZE)


@pytest.mark.parametrize("line", [b"the %sx 2", b"the 2 %s,", b"the%s 1 2,5", b"%s,x"], ids=lambda line: line.decode())
def test_long_fields_take_no_quadratic_time(tmp_path, line):
    path = tmp_path / "file"
    path.write_bytes(b"a 1 2\n" + line % (b"1" * 1_000_000) + b"\n")
    check_refused(path, "Line 2 of")


def test_long_lines_of_counts_take_no_quadratic_time(tmp_path):
    (tmp_path / "vectors").write_text("2 1\nthe 1\nnew york 2\n")
    (tmp_path / "counts").write_text("new york \t 7 \nthe 5\n")
    vectors = CipherVectors.load_word2vec_format(tmp_path / "vectors", tmp_path / "counts")
    assert vectors.counts.tolist() == [5, 7]
    (tmp_path / "counts").write_text("the 5\nnew" + " " * 1_000_000 + "york\n")
    with pytest.raises(BitcipherError, match=r"Line 2 of .* is not a word, a space and its count"):
        CipherVectors.load_word2vec_format(tmp_path / "vectors", tmp_path / "counts")

"""NumPy, pandas, the TensorFlow Projector and embedding-atlas open the exported tables."""

import csv

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from bitcipher import BitcipherError, CipherVectors


def test_numpy_opens_the_folder(tmp_path, table, check_neighbors, numpy_finder):
    table.export("numpy", tmp_path / "out")
    rows = np.load(tmp_path / "out" / "vectors.npy", mmap_mode="r", allow_pickle=False)
    words = (tmp_path / "out" / "words.txt").read_text().splitlines()
    check_neighbors(numpy_finder(words, rows))
    np.testing.assert_array_equal(np.load(tmp_path / "out" / "counts.npy", allow_pickle=False), table.counts)
    read = CipherVectors.load(tmp_path / "out")
    assert read.index_to_key == table.index_to_key
    np.testing.assert_array_equal(read.vectors, table.vectors)
    np.testing.assert_array_equal(read.counts, table.counts)


def test_pandas_opens_parquet(tmp_path, table, check_neighbors, numpy_finder):
    table.export("parquet", tmp_path / "out.parquet")
    frame = pd.read_parquet(tmp_path / "out.parquet")
    assert list(frame) == ["word", "count", "passages", "vector"]
    check_neighbors(numpy_finder(list(frame["word"]), np.stack(frame["vector"].to_numpy())))
    assert pq.read_schema(tmp_path / "out.parquet").field("vector").type == pa.list_(pa.float32(), table.vector_size)
    read = CipherVectors.load(tmp_path / "out.parquet")
    assert read.index_to_key == table.index_to_key
    np.testing.assert_array_equal(read.vectors, table.vectors)
    np.testing.assert_array_equal(read.passages, table.passages)


def test_parquet_files_of_other_writers_are_read_or_raise(tmp_path):
    pq.write_table(pa.table({"word": ["a", "b"], "vector": [[1.0, 2], [3, 4]]}), tmp_path / "two")
    np.testing.assert_array_equal(CipherVectors.load(tmp_path / "two").vectors, [[1, 2], [3, 4]])
    for column in ([[1.0, 2], [3]], [[1.0, 2, 3], [3]], [[1.0], None], [[1.0], [None]], [[], []], [1.0, 2]):
        pq.write_table(pa.table({"word": ["a", "b"], "vector": column}), tmp_path / "uneven")
        with pytest.raises(BitcipherError):
            CipherVectors.load(tmp_path / "uneven")
    pq.write_table(pa.table({"text": ["a"]}), tmp_path / "other")
    with pytest.raises(BitcipherError, match="must have the columns word and vector"):
        CipherVectors.load(tmp_path / "other")


def test_projector_files_have_all_words_vectors_and_counts(tmp_path, table, check_neighbors, numpy_finder):
    table.export("projector", tmp_path / "out")
    rows = np.loadtxt(tmp_path / "out" / "vectors.tsv", np.float32, delimiter="\t")
    np.testing.assert_array_equal(rows, table.vectors)
    with open(tmp_path / "out" / "metadata.tsv", newline="") as stream:
        header, *lines = csv.reader(stream, "excel-tab", quoting=csv.QUOTE_NONE)
    assert header == ["word", "rank", "count"]
    check_neighbors(numpy_finder([word for word, _, _ in lines], rows))
    assert [int(count) for _, _, count in lines] == table.counts.tolist()
    with pytest.raises(BitcipherError, match="only be written"):
        CipherVectors.load(tmp_path / "out", format="projector")


def test_pandas_opens_embedding_atlas(tmp_path, table, check_neighbors, numpy_finder):
    table.export("embedding-atlas", tmp_path / "out.parquet")
    frame = pd.read_parquet(tmp_path / "out.parquet")  # as embedding-atlas reads it
    assert list(frame) == ["word", "rank", "count", "vector"]
    assert len(frame) == len(table) - 2
    assert not {"<oov>", "zero"} & set(frame["word"])
    assert [table.index_to_key[rank - 1] for rank in frame["rank"]] == list(frame["word"])
    assert [table.get_vecattr(word, "count") for word in frame["word"]] == list(frame["count"])
    check_neighbors(numpy_finder(list(frame["word"]), np.stack(frame["vector"].to_numpy())))


def test_tables_without_counts_are_written_and_read(tmp_path, table):
    bare = CipherVectors(table.words, table.vectors)
    for name in ("numpy", "parquet", "embedding-atlas"):
        bare.export(name, tmp_path / name)
        assert CipherVectors.load(tmp_path / name).counts is None
    bare.export("projector", tmp_path / "projector")
    assert (tmp_path / "projector" / "metadata.tsv").read_text().splitlines()[:2] == ["word\trank", "the\t1"]


def test_damaged_numpy_folder_raises(tmp_path, table):
    table.export("numpy", tmp_path / "out")
    path = tmp_path / "out" / "vectors.npy"
    path.write_bytes(path.read_bytes()[:-10])
    with pytest.raises(BitcipherError, match="damaged"):
        CipherVectors.load(tmp_path / "out")
    np.save(path, table.vectors[:-1])
    with pytest.raises(BitcipherError, match="one row for each"):
        CipherVectors.load(tmp_path / "out")
    np.save(path, np.array([{}], object), allow_pickle=True)
    with pytest.raises(BitcipherError, match="not a numeric array"):
        CipherVectors.load(tmp_path / "out")

"""Vectors that are opened from files on the web, and word2vec's files with counts."""

import gzip

import numpy as np
import pytest
from web_server import WebServer

from bitcipher import BitcipherError, CipherVectors


@pytest.fixture
def vectors() -> CipherVectors:
    return CipherVectors(["cat", "dog"], np.float32([[1, 2], [3, 4]]), counts=[5, 4])


def test_file_of_the_web_is_loaded(vectors, tmp_path):
    vectors.save_word2vec_format(tmp_path / "cats.vec")
    with WebServer() as web:
        web.files["/cats.vec"] = (tmp_path / "cats.vec").read_bytes()
        web.files["/cats.vec.gz"] = gzip.compress(web.files["/cats.vec"])
        for name in ("cats.vec", "cats.vec.gz"):
            loaded = CipherVectors.load(f"{web.address}/{name}")
            assert loaded.index_to_key == ["cat", "dog"]
            np.testing.assert_array_equal(loaded.vectors, vectors.vectors)
        with pytest.raises(BitcipherError, match="missing"):
            CipherVectors.load(f"{web.address}/missing.vec")


@pytest.mark.parametrize("name", ["cats.vec", "cats.vec.gz", "cats.bin"])
def test_saved_file_replaces_the_former_one_and_keeps_counts(vectors, tmp_path, name):
    (tmp_path / name).write_text("old")
    is_binary = name.endswith(".bin")
    vectors.save_word2vec_format(tmp_path / name, tmp_path / "counts", binary=is_binary)
    loaded = CipherVectors.load_word2vec_format(tmp_path / name, tmp_path / "counts", is_binary)
    np.testing.assert_array_equal(loaded.vectors, vectors.vectors)
    assert loaded.counts.tolist() == [5, 4]
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted([name, "counts"])


def test_wrong_counts_give_a_sentence(vectors, tmp_path):
    vectors.save_word2vec_format(tmp_path / "cats.vec")
    (tmp_path / "counts").write_text("cat many\n")
    with pytest.raises(BitcipherError, match="Line 1 of "):
        CipherVectors.load_word2vec_format(tmp_path / "cats.vec", tmp_path / "counts")
    with pytest.raises(BitcipherError, match="leave out `write_header`"):
        vectors.save_word2vec_format(tmp_path / "x", binary=True, write_header=False)

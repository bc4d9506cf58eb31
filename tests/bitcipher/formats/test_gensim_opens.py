"""gensim opens word2vec, GloVe and fastText files, and KeyedVectors convert both ways."""

import numpy as np
import pytest
from gensim.models import KeyedVectors, Word2Vec

from bitcipher import BitcipherError, CipherVectors

# gensim divides the zero vector by its length.
pytestmark = pytest.mark.filterwarnings("ignore:invalid value encountered in divide:RuntimeWarning")

FORMATS = {
    "word2vec": {},
    "fasttext": {},
    "glove": {"no_header": True},
    "word2vec-binary": {"binary": True},
}


@pytest.mark.parametrize(("name", "settings"), FORMATS.items(), ids=FORMATS)
def test_gensim_reads_identical_words_and_vectors(tmp_path, table, check_neighbors, name, settings):
    table.export(name, tmp_path / "out")
    read = KeyedVectors.load_word2vec_format(tmp_path / "out", **settings)
    assert read.index_to_key == table.index_to_key
    np.testing.assert_array_equal(read.vectors, table.vectors)
    check_neighbors(lambda word: read.most_similar(word, topn=len(table)))


@pytest.mark.parametrize("binary", [False, True])
def test_files_of_gensim_are_read(tmp_path, table, binary):
    table.to_gensim().save_word2vec_format(tmp_path / "saved", binary=binary)
    read = CipherVectors.load(tmp_path / "saved")
    # gensim writes words in the order of their counts, which is the order of the table.
    assert read.index_to_key == table.index_to_key
    np.testing.assert_array_equal(read.vectors, table.vectors)


def test_keyed_vectors_have_the_counts(table, check_neighbors):
    keyed = table.to_gensim()
    assert keyed.get_vecattr("cat", "count") == table.get_vecattr("cat", "count")
    check_neighbors(lambda word: keyed.most_similar(word, topn=len(table)))
    vectors = CipherVectors.from_gensim(keyed)
    assert vectors.index_to_key == table.index_to_key
    np.testing.assert_array_equal(vectors.vectors, table.vectors)
    np.testing.assert_array_equal(vectors.counts, table.counts)


def test_from_gensim_rejects_a_model():
    model = Word2Vec([["a", "b"] * 3] * 3, vector_size=4, min_count=1, workers=1, seed=1, epochs=1)
    assert CipherVectors.from_gensim(model.wv).get_vecattr("a", "count") == 9
    with pytest.raises(BitcipherError, match="KeyedVectors, got Word2Vec"):
        CipherVectors.from_gensim(model)


def test_gensim_pickles_are_neither_written_nor_read(tmp_path, table):
    with pytest.raises(BitcipherError, match="word2vec-binary"):
        table.export("gensim", tmp_path / "out")
    table.to_gensim().save(str(tmp_path / "saved.kv"))
    with pytest.raises(BitcipherError, match=r"pickle.*from_gensim"):
        CipherVectors.load(tmp_path / "saved.kv")

"""Words and attributes added to a table, and tables of some words. `test_migration.py` compares with gensim."""

import numpy as np
import pytest

from bitcipher.errors import BitcipherError, UnknownWordError
from bitcipher.vectors.cipher_vectors import CipherVectors

ROWS = np.array([[3, 4], [1, 0], [0, 2]], np.float32)


@pytest.fixture
def table() -> CipherVectors:
    return CipherVectors(["the", "cat", "<oov>"], ROWS.copy(), [9, 5, 2], [3, 2, 1], manifest={"embedding": {}})


def test_added_words_are_found_compared_and_saved(table, tmp_path):
    assert [word for word, _ in table.most_similar("cat")] == ["the"]
    assert table.add_vector("dog", [2, 0.5]) == 3
    table.add_vectors(["bird", "cat"], [[0, 1], [5, 5]], {"count": np.array([7, 8])})
    assert [word for word, _ in table.most_similar("cat")] == ["dog", "the", "bird"]
    assert table["cat"].tolist() == [1, 0]
    assert table.counts.tolist() == [9, 5, 2, 0, 7]
    assert table.passages.tolist() == [3, 2, 1, 0, 0]
    assert "embedding" not in table.manifest  # the vectors are not those of a build any more
    table.save(tmp_path / "saved")
    saved = CipherVectors.load(tmp_path / "saved")
    assert saved.index_to_key == ["the", "cat", "<oov>", "dog", "bird"]
    np.testing.assert_array_equal(saved.vectors, table.vectors)
    assert saved.counts.tolist() == table.counts.tolist()


def test_replaced_vectors_have_new_lengths(table):
    assert table.similarity("the", "cat") == pytest.approx(0.6)
    table.add_vectors(["cat"], [[0, 7]], {"count": [1]}, replace=True)
    assert table.similarity("the", "cat") == pytest.approx(0.8)
    assert table.norms.tolist() == [5, 7, 2]
    assert table.get_vecattr("cat", "count") == 1


def test_the_array_and_the_file_of_a_table_stay_as_they_are(table, tmp_path):
    rows, counts = ROWS.copy(), np.array([9, 5, 2])
    table = CipherVectors(["the", "cat", "<oov>"], rows, counts)
    table.add_vectors(["the", "dog"], [[8, 8], [9, 9]], replace=True)
    table.set_vecattr("cat", "count", 100)
    np.testing.assert_array_equal(rows, ROWS)
    assert counts.tolist() == [9, 5, 2]
    with pytest.raises(ValueError, match="read-only"):
        table.vectors[0] = 1


def test_attributes_have_the_type_of_their_first_value(table):
    table.set_vecattr("cat", "weight", 0.5)
    table.set_vecattr("the", "weight", 2)
    table.set_vecattr("cat", "kind", "noun")
    assert [table.get_vecattr(word, "weight") for word in ("the", "cat", "<oov>")] == [2, 0.5, 0]
    assert table.get_vecattr("cat", "kind") == "noun"
    for attribute, value in (("count", -1), ("count", 0.5), ("count", "many"), ("weight", "heavy")):
        with pytest.raises(BitcipherError, match=f"'{attribute}'"):
            table.set_vecattr("cat", attribute, value)
    with pytest.raises(UnknownWordError):
        table.set_vecattr("dog", "count", 1)
    assert table.counts.tolist() == [9, 5, 2]


def test_counts_that_change_change_the_weights_of_sentences(table):
    before = table.encode("the cat")
    table.set_vecattr("cat", "count", 10**6)
    assert not np.allclose(table.encode("the cat"), before)


@pytest.mark.parametrize("attribute", ["count", "passages"])
def test_counts_that_are_not_those_of_the_build_have_no_provenance(table, attribute):
    table.set_vecattr("cat", "sense", 1)
    assert "embedding" in table.manifest
    table.set_vecattr("cat", attribute, 8)
    assert "embedding" not in table.manifest  # shares of the spelling depend on counts


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((["dog"], [[1, 2, 3]]), "shape"),
        ((["dog", "dog"], [[1, 2], [3, 4]]), "repeated"),
        (([5], [[1, 2]]), "string"),
        ((["dog"], [[1, np.nan]]), "not finite"),
        ((["dog"], [[1, 2]], {"count": [1, 2]}), "'count'"),
        ((["dog"], [[1, 2]], {"count": [0.5]}), "'count'"),
    ],
)
def test_wrong_additions_change_nothing(table, arguments, message):
    with pytest.raises(BitcipherError, match=message):
        table.add_vectors(*arguments)
    assert len(table) == len(table.index_to_key) == len(table.counts) == 3


def test_no_words_can_be_added(table):
    table.add_vectors([], [])
    assert len(table) == 3


def test_vectors_for_all_has_some_words_in_the_given_order(table):
    some = table.vectors_for_all(["<oov>", "dog", "the", "<oov>"], copy_vecattrs=True)
    assert some.index_to_key == ["<oov>", "the"]
    np.testing.assert_array_equal(some.vectors, ROWS[[2, 0]])
    assert some.counts.tolist() == [2, 9]
    assert table.vectors_for_all(["the"]).counts is None
    with pytest.raises(BitcipherError, match="None of the words"):
        table.vectors_for_all(["dog"])


def test_vectors_for_all_infers_from_spelling():
    words = [stem + ending for stem in ("walk", "talk", "jump", "laugh") for ending in ("s", "ed", "ing")]
    rows = np.hstack([np.repeat(np.eye(4), 3, axis=0), np.tile(np.eye(3), (4, 1))])
    table = CipherVectors(words, rows).with_spelling()
    some = table.vectors_for_all(["walks", "leaping", "§"])
    assert some.index_to_key == ["walks", "leaping"]
    np.testing.assert_array_equal(some["leaping"], table.get_vector("leaping", oov="spelling"))
    assert table.vectors_for_all(["walks", "leaping"], allow_inference=False).index_to_key == ["walks"]


def test_normed_vectors_have_length_1_except_zeros():
    normed = CipherVectors(["a", "zero"], [[3, 4], [0, 0]]).get_normed_vectors()
    np.testing.assert_allclose(normed, [[0.6, 0.8], [0, 0]], rtol=1e-6)

import numpy as np
import pytest

from bitcipher.errors import BitcipherError, UnknownWordError
from bitcipher.vectors.cipher_vectors import CipherVectors
from bitcipher.vocabulary import OOV

WORDS = ["the", "government", "<oov>", "Paris", "paris"]
ROWS = np.array([[3, 4], [1, 0], [0, 2], [0, 0], [-1, 1]], np.float32)


@pytest.fixture
def table() -> CipherVectors:
    return CipherVectors(WORDS, ROWS, counts=[50, 9, 7, 5, 4], passages=[8, 5, 4, 3, 2])


def test_lookup_of_words_vectors_and_counts(table):
    assert table.index_to_key == WORDS
    assert table.key_to_index == {word: row for row, word in enumerate(WORDS)}
    assert (len(table), table.vector_size) == (5, 2)
    assert "Paris" in table
    assert table.has_index_for("paris")
    assert "rome" not in table
    assert not table.has_index_for(5)
    np.testing.assert_array_equal(table["the"], [3, 4])
    np.testing.assert_array_equal(table[4], [-1, 1])
    np.testing.assert_array_equal(table[["paris", "the"]], [[-1, 1], [3, 4]])
    assert table[[]].shape == (0, 2)
    assert table.get_vecattr("the", "count") == 50
    assert table.get_vecattr("paris", "passages") == 2


def test_norm_scales_to_length_1_except_zero_vectors(table):
    np.testing.assert_array_equal(table.get_vector("the", norm=True), np.float32([0.6, 0.8]))
    np.testing.assert_array_equal(table.get_vector("Paris", norm=True), [0, 0])


def test_vectors_are_read_only_views():
    rows = ROWS.copy()
    table = CipherVectors(WORDS, rows)
    with pytest.raises(ValueError, match="read-only"):
        table["the"][0] = 1
    with pytest.raises(ValueError, match="read-only"):
        table.vectors[0] = 1
    assert np.shares_memory(table.vectors, rows)
    rows[0] = 1  # the caller's array stays writeable


def test_get_index_of_an_unknown_word(table):
    assert table.get_index("rome", default=-1) == -1
    assert table.get_index("rome", default=0) == 0
    assert table.get_index("rome", oov=True) == 2
    assert table.get_index("the", oov=True) == 0


def test_unknown_words_raise_with_close_spellings(table):
    with pytest.raises(UnknownWordError, match=r"'goverment'.*5 words \(close spellings: 'government'\).*oov=True"):
        table["goverment"]
    with pytest.raises(UnknownWordError, match="close spellings: 'paris', 'Paris'"):
        table["PaRis"]
    with pytest.raises(UnknownWordError, match="'zebra'") as error:
        table["zebra"]
    assert "close spellings" not in str(error.value)


def test_unknown_words_raise_key_error(table):
    with pytest.raises(KeyError):
        table["rome"]


@pytest.mark.parametrize("key", [5, -1, 2.5, b"the", [["the"]], ["the", None], np.array(0.5)])
def test_invalid_keys_raise(table, key):
    with pytest.raises(BitcipherError, match=r"A key must be|out of range"):
        table[key]


def test_oov_uses_the_row_of_oov(table):
    np.testing.assert_array_equal(table.get_vector("rome", oov=True), [0, 2])
    assert table.get_vecattr("rome", "count", oov=True) == 7
    with pytest.raises(BitcipherError, match="has no <oov>"):
        CipherVectors(["a"], [[1.0]]).get_vector("b", oov=True)
    assert OOV in table


def test_unknown_attributes_raise(table):
    with pytest.raises(BitcipherError, match="attributes: none"):
        CipherVectors(["a"], [[1.0]]).get_vecattr("a", "count")
    with pytest.raises(BitcipherError, match=r"'sense'.*count, passages"):
        table.get_vecattr("the", "sense")


def test_mean_matches_gensim(table):
    # Expected values of KeyedVectors.get_mean_vector in gensim 4.4.
    def mean(*args, **kwargs):
        return table.get_mean_vector(*args, **kwargs)

    np.testing.assert_allclose(mean(["the", "government"]), [0.8, 0.4], rtol=1e-6)
    np.testing.assert_allclose(mean(["the", "government"], pre_normalize=False), [2, 2])
    np.testing.assert_allclose(mean(["the", "paris"], [2, -1], pre_normalize=False), [7 / 3, 7 / 3], rtol=1e-6)
    np.testing.assert_allclose(mean(["the", "rome"]), [0.6, 0.8], rtol=1e-6)
    np.testing.assert_allclose(mean(["the", np.float32([0, 10])]), [0.3, 5.4], rtol=1e-6)
    np.testing.assert_allclose(mean(["the", "government"], post_normalize=True), [0.894427, 0.447214], rtol=1e-5)
    np.testing.assert_array_equal(mean(["rome"]), [0, 0])
    np.testing.assert_allclose(mean(["the", "rome"], oov=True), [0.3, 0.9], rtol=1e-6)
    assert mean(["the"]).dtype == np.float32


def test_invalid_means_raise(table):
    with pytest.raises(BitcipherError, match="at least one"):
        table.get_mean_vector([])
    with pytest.raises(UnknownWordError, match="'rome'"):
        table.get_mean_vector(["the", "rome"], ignore_missing=False)
    for weights in ([1], [1, float("nan")], ["a", "b"], 3):
        with pytest.raises(BitcipherError):
            table.get_mean_vector(["the", "paris"], weights)
    for vector in (np.ones(3), np.ones((1, 2)), np.array(["a", "b"])):
        with pytest.raises(BitcipherError, match="array of 2 numbers"):
            table.get_mean_vector([vector])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((["a", "a"], ROWS[:2]), "Only 1 of the 2 words"),
        (([], ROWS[:0]), "at least one"),
        ((["a", None], ROWS[:2]), "no word may be missing"),
        ((["a", 3], ROWS[:2]), "list of strings"),
        ((["a", "\ud800"], ROWS[:2]), "list of strings"),
        ((["a"], ROWS[:2]), "one row for each"),
        ((["a"], ROWS[:1, :0]), "one row for each"),
        ((["a"], [["x", "y"]]), "numeric array"),
        ((["a"], ROWS[:1], [1, 2]), "`counts`"),
        ((["a"], ROWS[:1], [1], [0.5]), "`passages`"),
        ((["a"], ROWS[:1], None, None, {"mean": np.arange(3, dtype=np.int16)}), "'mean' must be float16"),
    ],
)
def test_invalid_content_raises(arguments, message):
    with pytest.raises(BitcipherError, match=message):
        CipherVectors(*arguments)


def test_repr_shows_the_sizes(table):
    assert repr(table) == "CipherVectors(5 words, 2 dimensions)"

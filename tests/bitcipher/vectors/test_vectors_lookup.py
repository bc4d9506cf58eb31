import numpy as np
import pytest

from bitcipher.errors import BitcipherError, UnknownWordError
from bitcipher.vectors import CipherVectors
from bitcipher.vocabulary import OOV

WORDS = ["the", "government", "<oov>", "Paris", "paris"]
ROWS = np.array([[3, 4], [1, 0], [0, 2], [0, 0], [-1, 1]], np.float32)


@pytest.fixture
def table() -> CipherVectors:
    return CipherVectors(WORDS, ROWS, counts=[50, 9, 7, 5, 4], passages=[8, 5, 4, 3, 2])


def test_words_vectors_and_counts_are_found(table):
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


def test_a_normed_vector_has_length_one_and_a_zero_row_stays_zero(table):
    np.testing.assert_array_equal(table.get_vector("the", norm=True), np.float32([0.6, 0.8]))
    np.testing.assert_array_equal(table.get_vector("Paris", norm=True), [0, 0])


def test_vectors_cannot_be_changed_through_the_table_and_are_not_copied():
    rows = ROWS.copy()
    table = CipherVectors(WORDS, rows)
    with pytest.raises(ValueError, match="read-only"):
        table["the"][0] = 1
    with pytest.raises(ValueError, match="read-only"):
        table.vectors[0] = 1
    assert np.shares_memory(table.vectors, rows)
    rows[0] = 1  # the caller's own array stays writeable


def test_get_index_of_an_unknown_word(table):
    assert table.get_index("rome", default=-1) == -1
    assert table.get_index("rome", default=0) == 0
    assert table.get_index("rome", oov=True) == 2
    assert table.get_index("the", oov=True) == 0


def test_an_unknown_word_is_told_with_close_spellings(table):
    with pytest.raises(UnknownWordError) as error:
        table["goverment"]
    assert str(error.value) == (
        "The word 'goverment' is not among the 5 words of the table (close to it: 'government'); "
        "ask with oov=True to get the vector of <oov> for it."
    )
    with pytest.raises(UnknownWordError, match=r"\(close to it: 'paris', 'Paris'\)"):
        table["PaRis"]
    with pytest.raises(UnknownWordError, match="5 words of the table; ask"):
        table["zebra"]


def test_an_unknown_word_is_also_a_key_error(table):
    with pytest.raises(KeyError):
        table["rome"]


@pytest.mark.parametrize("key", [5, -1, 2.5, b"the", [["the"]], ["the", None], np.array(0.5)])
def test_what_is_no_key_is_told(table, key):
    with pytest.raises(BitcipherError, match=r"A key is a word or a row number|There is no row"):
        table[key]


def test_oov_gives_the_row_of_oov(table):
    np.testing.assert_array_equal(table.get_vector("rome", oov=True), [0, 2])
    assert table.get_vecattr("rome", "count", oov=True) == 7
    with pytest.raises(BitcipherError, match="has no <oov>"):
        CipherVectors(["a"], [[1.0]]).get_vector("b", oov=True)
    assert OOV in table


def test_counts_that_are_not_kept_are_told(table):
    with pytest.raises(BitcipherError, match="keeps: vectors only"):
        CipherVectors(["a"], [[1.0]]).get_vecattr("a", "count")
    with pytest.raises(BitcipherError, match="no 'sense'; it keeps: count, passages"):
        table.get_vecattr("the", "sense")


def test_mean_follows_gensim(table):
    # Values from gensim 4.4's KeyedVectors.get_mean_vector on the same rows.
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


def test_a_mean_that_cannot_be_is_told(table):
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
    ("arguments", "says"),
    [
        ((["a", "a"], ROWS[:2]), "only 1 different"),
        (([], ROWS[:0]), "at least one"),
        ((["a", None], ROWS[:2]), "none of them missing"),
        ((["a", 3], ROWS[:2]), "list of text"),
        ((["a", "\ud800"], ROWS[:2]), "list of text"),
        ((["a"], ROWS[:2]), "rows of vectors"),
        ((["a"], ROWS[:1, :0]), "rows of vectors"),
        ((["a"], [["x", "y"]]), "array of numbers"),
        ((["a"], ROWS[:1], [1, 2]), "of counts"),
        ((["a"], ROWS[:1], [1], [0.5]), "of passages"),
        ((["a"], ROWS[:1], None, None, {"mean": np.arange(3)}), "'mean' must be float32"),
    ],
)
def test_parts_that_do_not_agree_are_told(arguments, says):
    with pytest.raises(BitcipherError, match=says):
        CipherVectors(*arguments)


def test_repr_says_how_large_it_is(table):
    assert repr(table) == "CipherVectors(5 words, 2 dimensions)"

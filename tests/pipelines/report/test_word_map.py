"""Maps of words: what is on them, where, and that they come out the same."""

import json

import numpy as np
import plotly.graph_objects
import pytest

from bitcipher.errors import BitcipherError
from bitcipher.vectors import CipherVectors
from pipelines.report.figure import figure, legend
from pipelines.report.map import WordMap, make_map


def letters(number: int) -> str:
    return "".join(chr(ord("a") + int(digit)) for digit in f"{number:03d}")


@pytest.fixture(scope="module")
def vectors() -> CipherVectors:
    """60 words in two bundles of directions, taking turns, after entries that no map shows."""
    random = np.random.default_rng(20)
    centres = np.eye(2, 16) * 5
    rows = centres[np.arange(60) % 2] + random.normal(size=(60, 16))
    hidden = {"<oov>": 1.0, ".": 1.0, "3": 1.0, "x_1": 1.0, "zero": 0.0}
    table = np.vstack([np.full((1, 16), value) for value in hidden.values()] + [rows])
    words = [*hidden, *map(letters, range(60))]
    return CipherVectors(words, table, counts=np.arange(len(words), 0, -1))


def test_frequent_words_of_letters_are_mapped_in_order_of_rank(vectors):
    word_map = make_map(vectors)
    assert word_map.words == [letters(number) for number in range(60)]
    assert word_map.counts.tolist() == list(range(60, 0, -1))
    assert word_map.places.shape == (60, 2)
    np.testing.assert_allclose(word_map.places.min(axis=0), -1, atol=1e-6)
    np.testing.assert_allclose(word_map.places.max(axis=0), 1, atol=1e-6)


def test_similar_words_lie_near_each_other_and_share_groups(vectors):
    word_map = make_map(vectors)
    even, odd = word_map.places[::2], word_map.places[1::2]
    within = np.linalg.norm(even - even.mean(axis=0), axis=1).mean()
    assert np.linalg.norm(even.mean(axis=0) - odd.mean(axis=0)) > within
    assert not set(word_map.groups[::2]) & set(word_map.groups[1::2])


def test_groups_are_numbered_by_their_most_frequent_words(vectors):
    word_map = make_map(vectors)
    firsts = [np.flatnonzero(word_map.groups == number)[0] for number in range(word_map.groups.max() + 1)]
    assert firsts == sorted(firsts)
    groups = legend(word_map)
    assert sum(group.size for group in groups) == 60
    assert groups[0].name.startswith(word_map.words[0])
    assert len({group.colour for group in groups}) == len(groups)


def test_the_same_vectors_give_the_same_map(vectors):
    one, other = make_map(vectors), make_map(vectors)
    assert one.places.tobytes() == other.places.tobytes()
    assert one.groups.tobytes() == other.groups.tobytes()


@pytest.mark.parametrize("table", [np.eye(5) + 0.1, np.arange(1, 11).reshape(5, 2), np.eye(5)[:, :4] + 0.1])
def test_five_different_vectors_are_enough(table):
    word_map = make_map(CipherVectors(["one", "two", "three", "four", "five"], table))
    assert len(word_map.words) == 5
    assert np.isfinite(word_map.places).all()


@pytest.mark.parametrize(
    ("table", "found"),
    [
        (np.eye(4), "there are 4, of 4"),
        (np.ones((9, 3)), "there are 1, of 3"),
        (np.arange(1, 10).reshape(9, 1), "there are 1, of 1"),
        (np.zeros((9, 3)), "there are 0, of 3"),
        (np.vstack([np.eye(2)] * 4), "there are 2, of 2"),
    ],
)
def test_too_little_for_a_map_is_told(table, found):
    with pytest.raises(BitcipherError, match=f"{found}: build from more text"):
        make_map(CipherVectors([letters(number) for number in range(len(table))], table))


def test_the_figure_is_one_that_plotly_knows_and_holds_every_word(vectors):
    word_map = make_map(vectors)
    drawn = json.loads(json.dumps(figure(word_map)))
    assert len(plotly.graph_objects.Figure(drawn).data) == word_map.groups.max() + 1
    ranked = sorted((rank, word) for trace in drawn["data"] for rank, word in trace["customdata"])
    assert ranked == list(enumerate(word_map.words))


def test_words_are_no_markup_to_plotly():
    word_map = WordMap(["<b>a</b>", "&lt;"], np.zeros((2, 2)), np.zeros(2, np.int64), np.array([1_234, 1]))
    (trace,) = figure(word_map)["data"]
    assert trace["hovertext"] == ["<b>&lt;b&gt;a&lt;/b&gt;</b><br>1,234 times", "<b>&amp;lt;</b><br>1 times"]
    assert trace["customdata"] == [[0, "&lt;b&gt;a&lt;/b&gt;"], [1, "&amp;lt;"]]

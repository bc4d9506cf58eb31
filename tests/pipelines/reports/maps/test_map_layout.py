"""Map layout: selected words, positions, groups, and determinism."""

import numpy as np
import pytest

from bitcipher.errors import BitcipherError
from bitcipher.vectors.cipher_vectors import CipherVectors
from pipelines.reports.maps import layout
from pipelines.reports.maps.layout import WordMap, choose_rows, make_map


def letters(number: int) -> str:
    return "".join(chr(ord("a") + int(digit)) for digit in f"{number:03d}")


def mapped(vectors: CipherVectors) -> WordMap:
    return make_map(vectors, choose_rows(vectors, len(vectors)))


@pytest.fixture(scope="module")
def vectors() -> CipherVectors:
    """60 words that alternate between two clusters of directions, after entries of other kinds."""
    random = np.random.default_rng(20)
    centers = np.eye(2, 16) * 5
    rows = centers[np.arange(60) % 2] + random.normal(size=(60, 16))
    others = {"<oov>": 1.0, ".": 1.0, "3": 1.0, "x_1": 1.0, "zero": 0.0}
    table = np.vstack([np.full((1, 16), value) for value in others.values()] + [rows])
    return CipherVectors([*others, *map(letters, range(60))], table)


@pytest.fixture(scope="module")
def word_map(vectors: CipherVectors) -> WordMap:
    return make_map(vectors, choose_rows(vectors, 60, letters_only=True))


def test_choose_rows_selects_the_most_frequent_words_with_a_vector(vectors):
    assert choose_rows(vectors, 5).tolist() == [1, 2, 3, 5, 6]
    assert choose_rows(vectors, 3, letters_only=True).tolist() == [5, 6, 7]
    assert len(choose_rows(vectors, 1_000)) == 63


def test_positions_fill_the_map_and_neighbors_are_the_nearest(vectors, word_map):
    assert word_map.rows.tolist() == list(range(5, 65))
    assert word_map.positions.shape == (60, 2)
    np.testing.assert_allclose(word_map.positions.min(axis=0), -1, atol=1e-6)
    np.testing.assert_allclose(word_map.positions.max(axis=0), 1, atol=1e-6)
    letters_only = CipherVectors(vectors.index_to_key[5:], vectors[word_map.rows.tolist()])
    for number in (0, 31, 59):
        expected = letters_only.most_similar(number, topn=word_map.neighbors.shape[1])
        assert [letters(other) for other in word_map.neighbors[number]] == [word for word, _ in expected]
        np.testing.assert_allclose(word_map.cosines[number], [cosine for _, cosine in expected], atol=1e-5)


def test_similar_words_are_near_each_other_and_share_groups(word_map):
    even, odd = word_map.positions[::2], word_map.positions[1::2]
    within = np.linalg.norm(even - even.mean(axis=0), axis=1).mean()
    assert np.linalg.norm(even.mean(axis=0) - odd.mean(axis=0)) > within
    assert not set(word_map.groups[::2]) & set(word_map.groups[1::2])


def test_groups_are_numbered_by_their_most_frequent_words(word_map):
    firsts = [np.flatnonzero(word_map.groups == number)[0] for number in range(word_map.groups.max() + 1)]
    assert firsts == sorted(firsts)


@pytest.mark.parametrize("fft_words", [1, 1_000], ids=["by interpolation", "by trees"])
def test_equal_vectors_give_equal_maps(vectors, fft_words, monkeypatch):
    monkeypatch.setattr(layout, "FFT_WORDS", fft_words)
    monkeypatch.setattr(layout, "PLAIN_STEPS", 20)
    monkeypatch.setattr(layout, "EXAGGERATED_STEPS", 20)
    one, other = mapped(vectors), mapped(vectors)
    assert one.positions.tobytes() == other.positions.tobytes()
    assert one.groups.tobytes() == other.groups.tobytes()
    assert np.isfinite(one.positions).all()


def test_progress_adds_up(vectors):
    done = {}
    make_map(vectors, choose_rows(vectors, 60), lambda stage, more: done.update({stage: done.get(stage, 0) + more}))
    assert done == {"neighbors": 60, "layout": layout.STEPS}


@pytest.mark.parametrize("table", [np.eye(5) + 0.1, np.arange(1, 11).reshape(5, 2), np.eye(5)[:, :4] + 0.1])
def test_five_different_vectors_are_enough(table):
    word_map = mapped(CipherVectors(["one", "two", "three", "four", "five"], table))
    assert len(word_map.rows) == 5
    assert np.isfinite(word_map.positions).all()


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
def test_too_few_words_for_a_map_raise(table, found):
    with pytest.raises(BitcipherError, match=f"{found}: build from more text"):
        mapped(CipherVectors([letters(number) for number in range(len(table))], table))

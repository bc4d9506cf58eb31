"""Vectors from the spelling of words."""

import numpy as np
import pyarrow as pa
import pytest

from bitcipher import OOV, BitcipherError
from bitcipher.spelling.ngrams import hash_ngram
from bitcipher.spelling.spelling import Spelling

STEMS = ["walk", "talk", "jump", "laugh", "paint", "climb", "whisper", "dance"]
ENDINGS = ["", "s", "ed", "ing", "er"]


def strings(words):
    return pa.array(words, pa.large_string())


def unit(rows):
    return (rows / np.linalg.norm(rows, axis=-1, keepdims=True)).astype(np.float32)


@pytest.fixture(scope="module")
def table():
    """Words and vectors that are the sum of one vector for the stem and one for the ending."""
    random = np.random.default_rng(3)
    stems, endings = (dict(zip(names, random.normal(size=(len(names), 12)), strict=True)) for names in (STEMS, ENDINGS))
    words = [stem + ending for stem in STEMS for ending in ENDINGS]
    vectors = unit(np.array([stems[stem] + endings[ending] for stem in STEMS for ending in ENDINGS]))
    return strings([*words, OOV]), np.concatenate([vectors, unit(random.normal(size=(1, 12)))])


@pytest.fixture(scope="module")
def spelling(table):
    words, vectors = table
    return Spelling.fit(words, vectors, np.full(len(words), 10_000), 0.4)


def test_vectors_of_unseen_words_are_predicted(table):
    words, vectors = table
    hidden = words.to_pylist().index("whispering")
    counts = np.full(len(words), 10_000)
    counts[hidden] = 0
    predicted = Spelling.fit(words, vectors, counts, 0.4).predict(words)
    cosines = vectors @ predicted[hidden]
    assert cosines.argmax() == hidden
    assert cosines[hidden] > 0.7


def test_predictions_have_length_1_or_0(spelling):
    predicted = spelling.predict(strings(["walker", "talkative", "中文", ""]))
    np.testing.assert_allclose(np.linalg.norm(predicted, axis=1), [1, 1, 0, 0], atol=1e-6)
    assert predicted.dtype == np.float32


def test_removing_undoes_adding(table, spelling):
    words, vectors = table
    for share, counts in ((0.4, None), (1.0, None), (0.4, np.arange(len(words)) * 50)):
        used = Spelling(spelling.hashes, spelling.vectors, spelling.lengths, share)
        combined = used.add_to(vectors, words, counts)
        np.testing.assert_allclose(np.linalg.norm(combined, axis=1), 1, atol=1e-6)
        contexts, lengths = used.remove_from(combined, words, counts)
        np.testing.assert_allclose(contexts, vectors, atol=1e-5)
        sums = vectors + used.shares(counts) * used.predict(words)
        np.testing.assert_allclose(lengths[:-1], np.linalg.norm(sums, axis=1)[:-1], atol=1e-5)


def test_rare_words_have_larger_shares(spelling):
    shares = spelling.shares(np.array([0, spelling.rare_count, 10**9]))
    np.testing.assert_allclose(shares[:, 0], [1, 0.7, 0.4], atol=1e-5)
    assert spelling.shares(None) == np.float32(0.4)


def test_oov_and_zero_vectors_have_no_spelling(table, spelling):
    words, vectors = table
    rows = vectors.copy()
    rows[3] = 0
    combined = spelling.add_to(rows, words, None)
    assert not combined[3].any()
    np.testing.assert_allclose(combined[-1], vectors[-1], atol=1e-6)


def test_parts_add_up_to_the_prediction(spelling):
    for word in ("walking", "jumpers", "laughed"):
        parts = spelling.parts(word)
        assert {part.ngram for part in parts} >= {f"<{word[:2]}"}
        total = np.sum([part.vector for part in parts], axis=0)
        np.testing.assert_allclose(total, spelling.predict(strings([word]))[0], atol=1e-6)
    assert spelling.parts("中文") == []


def test_ngrams_that_cancel_give_zeros(spelling):
    hashes = np.sort([hash_ngram("<wa"), hash_ngram("wal")])
    cancelling = Spelling(hashes, np.array([[1, 2], [-1, -2]], np.float16), spelling.lengths, 0.4)
    assert not cancelling.predict(strings(["walked"])).any()
    assert not np.sum([part.vector for part in cancelling.parts("walked")], axis=0).any()


def test_arrays_are_read_back(spelling):
    read = Spelling.from_arrays({**spelling.to_arrays(), "mean": np.zeros(3)})
    assert (read.lengths, read.share) == (spelling.lengths, spelling.share)
    assert read.predict(strings(["walked"])).tobytes() == spelling.predict(strings(["walked"])).tobytes()
    assert Spelling.from_arrays(None) is None
    assert Spelling.from_arrays({"mean": np.zeros(3)}) is None


@pytest.mark.parametrize(
    "change",
    [
        {"spelling_vectors": np.zeros((3, 12), np.float16)},
        {"spelling_vectors": np.zeros(3, np.float16)},
        {"spelling_lengths": np.array([6, 3])},
        {"spelling_lengths": np.array([3])},
        {"spelling_share": np.array([-1.0])},
        {"spelling_share": np.array([np.nan])},
        {"spelling_rare_count": np.array([-1])},
        {"spelling_rare_count": np.array([0.5])},
        {"spelling_hashes": np.array([2, 1])},
    ],
    ids=str,
)
def test_damaged_arrays_raise(spelling, change):
    with pytest.raises(BitcipherError, match="n-grams"):
        Spelling.from_arrays({**spelling.to_arrays(), **change})

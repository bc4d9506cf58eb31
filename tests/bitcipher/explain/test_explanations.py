"""What explanations tell, of every mode that has context."""

import numpy as np
import pytest
from made_vectors import counted, made, small_text

from bitcipher import BitcipherError, CipherVectors, UnknownWordError
from bitcipher.counts import ContextWindow
from bitcipher.explain import Explainer, explain

CHOICES = [
    {"mode": "cat"},
    {"mode": "cat", "log": "counts", "noise": "frequency"},
    {"mode": "cat", "log": "none", "noise": "none", "window": 1},
    {"mode": "sum", "bits": 30},
    {"mode": "sum", "bits": 30, "log": "counts"},
    {"mode": "spectral", "vector_size": 20},
    {"mode": "spectral", "vector_size": 20, "context": "positions", "window": 2},
    {"mode": "spectral", "vector_size": 20, "context": "window"},
]


@pytest.fixture(scope="module")
def counts():
    return counted(small_text(), ContextWindow(3))


@pytest.fixture(scope="module", params=CHOICES, ids=str)
def vectors(request, counts):
    return made(counts, **request.param)


@pytest.fixture(scope="module")
def explainer(vectors, counts):
    return Explainer(vectors, counts)


def test_contributions_and_rest_add_up_to_the_cosine_of_the_table(vectors, explainer):
    for one, other in (("w0", "w5"), (30, 31), ("w3", 150), ("w17", "<oov>")):
        for topn in (1, 10, 100_000):
            told = explainer.explain(one, other, topn)
            assert told.words == tuple(vectors.index_to_key[vectors.get_index(key)] for key in (one, other))
            assert told.similarity == pytest.approx(vectors.similarity(one, other), abs=1e-6)
            together = sum(each.weight for each in told.contributions) + told.rest
            assert together == pytest.approx(told.similarity, abs=1e-12)
            assert len(told.contributions) <= topn
        sizes = [abs(each.weight) for each in told.contributions]
        assert sizes == sorted(sizes, reverse=True)


def test_a_word_with_itself_adds_up_to_one(vectors, counts):
    told = vectors.explain("w4", topn=3, counts=counts)
    assert told.words == ("w4",)
    assert told.similarity == pytest.approx(1, abs=1e-12)
    assert sum(each.weight for each in told.contributions) + told.rest == pytest.approx(1, abs=1e-12)
    assert told == vectors.explain("w4", "w4", topn=3, counts=counts)


def test_two_words_are_explained_the_same_either_way_round(explainer):
    there, back = explainer.explain("w2", "w9", 20), explainer.explain("w9", "w2", 20)
    assert there.similarity == pytest.approx(back.similarity, abs=1e-12)
    assert [each[:2] for each in there.contributions] == [each[:2] for each in back.contributions]


def test_what_is_read_for_some_words_explains_them_as_all_of_it_does(vectors, explainer, counts):
    alone, among_all = explain(vectors, counts, 50, "w8"), explainer.explain(50, "w8")
    assert [each[:2] for each in alone.contributions] == [each[:2] for each in among_all.contributions]
    weights = [[each.weight for each in told.contributions] for told in (alone, among_all)]
    np.testing.assert_allclose(*weights, atol=1e-9)


def test_the_strongest_of_many_words_are_those_of_each(vectors, explainer):
    rows = [7, 0, len(vectors) - 1, 40]
    found = explainer.strongest(rows, 6)
    for row, contributions in zip(rows, found, strict=True):
        expected = explainer.explain(row, topn=6).contributions
        weights = [[each.weight for each in some] for some in (contributions, expected)]
        np.testing.assert_allclose(*weights, rtol=1e-5, atol=1e-6)
        # Of equal weights either may come first.
        if np.diff(np.abs(weights[1])).max() < -1e-5:
            assert [each[:2] for each in contributions] == [each[:2] for each in expected]
    assert explainer.strongest([]) == []
    with pytest.raises(UnknownWordError, match=f"There is no row {len(vectors)}"):
        explainer.strongest([0, len(vectors)])


def test_offsets_and_words_are_those_of_the_text():
    """Only one word ever stands two before "tea", and another one behind it; nothing else tells it apart."""
    text = [["green", "hot", "tea", "please"], ["the", "hot", "cup", "please"], ["a", "cup", "please"]] * 4
    text += [[f"x{number % 7}", f"y{number % 5}", "the", f"x{number % 3}"] for number in range(40)]
    counts = counted(text, ContextWindow(2))
    for chosen in ({"mode": "cat", "bits": 6}, {"mode": "spectral", "vector_size": 5, "context": "positions"}):
        pairs = {each[:2] for each in made(counts, **chosen).explain("tea", topn=100, counts=counts).contributions}
        assert pairs <= {(-2, "green"), (-1, "hot"), (1, "please")}
        assert (-2, "green") in pairs


def test_dimensions_add_up_and_tell_their_context_words(counts):
    vectors = made(counts, mode="cat")
    explainer = Explainer(vectors, counts)
    shares = explainer.dimensions("w5", "w6", topn=1_000, topn_contexts=1_000)
    assert {(each.offset, each.bit) for each in shares} == {
        (offset, bit) for offset in (-3, -2, -1, 1, 2, 3) for bit in range(9)
    }
    assert sum(each.weight for each in shares) == pytest.approx(vectors.similarity("w5", "w6"), abs=1e-6)
    for each in shares:
        assert {context.offset for context in each.contributions} == {each.offset}
        assert sum(context.weight for context in each.contributions) == pytest.approx(each.weight, abs=1e-9)
    few = explainer.dimensions("w5", "w6", topn=4, topn_contexts=2)
    assert [each[:3] for each in few] == [each[:3] for each in shares[:4]]
    assert [each.contributions for each in few] == [each.contributions[:2] for each in shares[:4]]


def test_a_word_without_context_has_no_parts():
    counts = counted([*small_text(20), ["alone"], ["alone"]], ContextWindow(2))
    for chosen in ({"mode": "cat"}, {"mode": "spectral", "vector_size": 5}):
        explainer = Explainer(made(counts, **chosen), counts)
        told = explainer.explain("alone", "w1")
        assert (told.similarity, told.contributions, told.rest) == (0, [], 0)
        assert explainer.strongest([list(counts.vocabulary.words.to_pylist()).index("alone")]) == [[]]


def test_summed_counts_are_explained_without_offsets():
    summed = counted(small_text(), ContextWindow(3, summed=True))
    for chosen in ({"mode": "sum", "bits": 30}, {"mode": "spectral", "vector_size": 10}):
        vectors = made(summed, **chosen)
        told = vectors.explain("w1", "w2", topn=1_000, counts=summed)
        assert told.similarity == pytest.approx(vectors.similarity("w1", "w2"), abs=1e-6)
        assert {each.offset for each in told.contributions} == {0}


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda v: {**v.manifest, "embedding": {**v.manifest["embedding"], "mode": "cipher"}}, "know no context"),
        (lambda v: {}, "do not say how they were made"),
    ],
)
def test_what_cannot_be_explained_is_told(counts, change, sentence):
    vectors = made(counts)
    other = CipherVectors(vectors.words, vectors.vectors, refinement=vectors.refinement, manifest=change(vectors))
    with pytest.raises(BitcipherError, match=sentence):
        Explainer(other, counts)


def test_mistakes_are_told(counts):
    vectors = made(counts)
    with pytest.raises(UnknownWordError, match="The word 'w0w' is not among"):
        vectors.explain("w0w", counts=counts)
    bare = CipherVectors(vectors.words, vectors.vectors, manifest=vectors.manifest)
    with pytest.raises(BitcipherError, match="do not keep matrix and mean"):
        bare.explain("w1", counts=counts)
    others = counted(small_text(10), ContextWindow(3))
    with pytest.raises(BitcipherError, match="take the counts that the vectors were made of"):
        vectors.explain("w1", counts=others)
    summed = counted(small_text(), ContextWindow(3, summed=True))
    with pytest.raises(BitcipherError, match="explain vectors of another log"):
        made(summed, mode="sum", bits=20, log="counts").explain("w1", counts=summed)
    with pytest.raises(BitcipherError, match="explain them by context word"):
        Explainer(made(counts, mode="spectral", vector_size=5), counts).dimensions("w1")

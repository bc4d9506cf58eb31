"""Explanations in all modes with context."""

import numpy as np
import pytest
from made_vectors import make_vectors, merge_counts, small_text

from bitcipher import BitcipherError, CipherVectors, UnknownWordError
from bitcipher.counts.context_window import ContextWindow
from bitcipher.explain.explainer import Explainer, explain

# Mode spectral rounds the tables that it multiplies by to 16 bits.
ROUNDING = 2e-5

OPTIONS = [
    {"mode": "cat"},
    {"mode": "cat", "log": "counts", "noise": "frequency"},
    {"mode": "cat", "log": "none", "noise": "none", "window": 1},
    {"mode": "sum", "bits": 30},
    {"mode": "sum", "bits": 30, "log": "counts"},
    {"mode": "spectral", "vector_size": 20},
    {"mode": "spectral", "vector_size": 20, "context": "positions", "window": 2},
    {"mode": "spectral", "vector_size": 20, "context": "window"},
    {"mode": "spectral", "vector_size": 20, "spelling_share": 0},
    {"mode": "spectral", "vector_size": 20, "spelling_share": 1},
    {"mode": "spectral", "vector_size": 20, "landmarks": 30, "landmark_contexts": 50},
]


@pytest.fixture(scope="module")
def counts():
    return merge_counts(small_text(), ContextWindow(3))


@pytest.fixture(scope="module", params=OPTIONS, ids=str)
def vectors(request, counts):
    return make_vectors(counts, **request.param)


@pytest.fixture(scope="module")
def explainer(vectors, counts):
    return Explainer(vectors, counts)


def test_contributions_and_rest_sum_to_the_cosine(vectors, explainer):
    for one, other in (("w0", "w5"), (30, 31), ("w3", 150), ("w17", "<oov>")):
        for topn in (1, 10, 100_000):
            explanation = explainer.explain(one, other, topn)
            assert explanation.words == tuple(vectors.index_to_key[vectors.get_index(key)] for key in (one, other))
            assert explanation.similarity == pytest.approx(vectors.similarity(one, other), abs=ROUNDING)
            listed = [*explanation.contributions, *explanation.ngrams]
            total = sum(each.weight for each in listed) + explanation.rest
            assert total == pytest.approx(explanation.similarity, abs=1e-12)
            assert len(explanation.contributions) <= topn
            assert len(explanation.ngrams) <= topn
        sizes = [abs(each.weight) for each in explanation.contributions]
        assert sizes == sorted(sizes, reverse=True)


def test_contributions_of_a_word_with_itself_sum_to_1(vectors, counts):
    explanation = vectors.explain("w4", topn=3, counts=counts)
    assert explanation.words == ("w4",)
    assert explanation.similarity == pytest.approx(1, abs=1e-12)
    listed = [*explanation.contributions, *explanation.ngrams]
    assert sum(each.weight for each in listed) + explanation.rest == pytest.approx(1, abs=1e-12)
    assert explanation == vectors.explain("w4", "w4", topn=3, counts=counts)


def test_explanations_are_symmetric(explainer):
    forward, backward = explainer.explain("w2", "w9", 20), explainer.explain("w9", "w2", 20)
    assert forward.similarity == pytest.approx(backward.similarity, abs=1e-12)
    assert [each[:2] for each in forward.contributions] == [each[:2] for each in backward.contributions]


def test_explaining_selected_words_matches_explaining_all(vectors, explainer, counts):
    selected, full = explain(vectors, counts, 50, "w8"), explainer.explain(50, "w8")
    assert [each[:2] for each in selected.contributions] == [each[:2] for each in full.contributions]
    weights = [[each.weight for each in explanation.contributions] for explanation in (selected, full)]
    np.testing.assert_allclose(*weights, atol=1e-9)


def test_strongest_matches_single_explanations(vectors, explainer):
    rows = [7, 0, len(vectors) - 1, 40]
    found = list(explainer.strongest(rows, 6))
    for row, contributions in zip(rows, found, strict=True):
        expected = explainer.explain(row, topn=6).contributions
        weights = [[each.weight for each in some] for some in (contributions, expected)]
        np.testing.assert_allclose(*weights, rtol=1e-5, atol=1e-6)
        # The order of equal weights is arbitrary.
        if np.diff(np.abs(weights[1])).max() < -1e-5:
            assert [each[:2] for each in contributions] == [each[:2] for each in expected]
    assert list(explainer.strongest([])) == []
    with pytest.raises(UnknownWordError, match=f"Row {len(vectors)}"):
        explainer.strongest([0, len(vectors)])


def test_offsets_and_words_match_the_text():
    """The contexts of "tea" at offsets -2 and 1 are unique, and no other word distinguishes it."""
    text = [["green", "hot", "tea", "please"], ["the", "hot", "cup", "please"], ["a", "cup", "please"]] * 4
    text += [[f"x{number % 7}", f"y{number % 5}", "the", f"x{number % 3}"] for number in range(40)]
    counts = merge_counts(text, ContextWindow(2))
    for options in ({"mode": "cat", "bits": 6}, {"mode": "spectral", "vector_size": 5, "context": "positions"}):
        explanation = make_vectors(counts, **options).explain("tea", topn=100, counts=counts)
        pairs = {each[:2] for each in explanation.contributions}
        assert pairs <= {(-2, "green"), (-1, "hot"), (1, "please")}
        assert (-2, "green") in pairs


def test_dimensions_and_their_contexts_sum_to_the_similarity(counts):
    vectors = make_vectors(counts, mode="cat")
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


def test_word_without_context_has_no_contributions():
    counts = merge_counts([*small_text(20), ["alone"], ["alone"]], ContextWindow(2))
    for options in ({"mode": "cat"}, {"mode": "spectral", "vector_size": 5}):
        explainer = Explainer(make_vectors(counts, **options), counts)
        explanation = explainer.explain("alone", "w1")
        assert (explanation.similarity, explanation.contributions, explanation.rest) == (0, [], 0)
        assert list(explainer.strongest([list(counts.vocabulary.words.to_pylist()).index("alone")])) == [[]]


def test_summed_counts_are_explained_without_offsets():
    summed = merge_counts(small_text(), ContextWindow(3, summed=True))
    for options in ({"mode": "sum", "bits": 30}, {"mode": "spectral", "vector_size": 10}):
        vectors = make_vectors(summed, **options)
        explanation = vectors.explain("w1", "w2", topn=1_000, counts=summed)
        assert explanation.similarity == pytest.approx(vectors.similarity("w1", "w2"), abs=ROUNDING)
        assert {each.offset for each in explanation.contributions} == {0}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            lambda v: {**v.manifest, "embedding": {**v.manifest["embedding"], "mode": "cipher"}},
            "do not depend on contexts",
        ),
        (lambda v: {}, "do not record how they were made"),
    ],
)
def test_unknown_provenance_raises(counts, change, message):
    vectors = make_vectors(counts)
    other = CipherVectors(vectors.words, vectors.vectors, refinement=vectors.refinement, manifest=change(vectors))
    with pytest.raises(BitcipherError, match=message):
        Explainer(other, counts)


def test_invalid_arguments_raise(counts):
    vectors = make_vectors(counts)
    with pytest.raises(UnknownWordError, match="'w0w'"):
        vectors.explain("w0w", counts=counts)
    bare = CipherVectors(vectors.words, vectors.vectors, manifest=vectors.manifest)
    with pytest.raises(BitcipherError, match="lack matrix and mean"):
        bare.explain("w1", counts=counts)
    others = merge_counts(small_text(10), ContextWindow(3))
    with pytest.raises(BitcipherError, match="use the counts"):
        vectors.explain("w1", counts=others)
    summed = merge_counts(small_text(), ContextWindow(3, summed=True))
    with pytest.raises(BitcipherError, match="use another log"):
        make_vectors(summed, mode="sum", bits=20, log="counts").explain("w1", counts=summed)
    with pytest.raises(BitcipherError, match="by context word"):
        Explainer(make_vectors(counts, mode="spectral", vector_size=5), counts).dimensions("w1")


def test_contexts_and_ngrams_have_their_parts_of_the_similarity(counts):
    contexts, vectors = (
        make_vectors(counts, mode="spectral", vector_size=20, spelling_share=share) for share in (0, 0.6)
    )
    expected = np.zeros(2)  # of the contexts, and of the spelling
    for word, other in (("w3", "w40"), ("w40", "w3")):
        share = 0.6 + 0.4 * 500 / (vectors.get_vecattr(word, "count") + 500)
        context, spelling = contexts[word].astype(float), share * vectors.spelling.predict([word])[0].astype(float)
        length = np.linalg.norm(context + spelling)
        expected += np.array([context @ vectors[other], spelling @ vectors[other]]) / length / 2
    explanation = Explainer(vectors, counts).explain("w3", "w40", topn=100_000)
    found = [sum(each.weight for each in listed) for listed in (explanation.contributions, explanation.ngrams)]
    assert found == pytest.approx(expected, abs=ROUNDING)
    assert explanation.rest == 0
    assert {"<w3", "<w4"} <= {each.ngram for each in explanation.ngrams}


def test_strongest_are_the_same_in_any_batches(counts, monkeypatch):
    explainer = Explainer(make_vectors(counts, mode="spectral", vector_size=20), counts)
    rows = range(len(counts.vocabulary))
    whole = list(explainer.strongest(rows, 4))
    monkeypatch.setattr("bitcipher.rows.spectral_rows.PAIRS_AT_ONCE", 500)
    assert list(explainer.strongest(rows, 4)) == whole

import math
from functools import partial

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from bitcipher.errors import BitcipherError, UnknownWordError
from bitcipher.vectors.cipher_vectors import CipherVectors
from bitcipher.vocabulary import OOV

# Few distinct values, so that equal rows and zero rows are common. Their products are exact in float32.
VALUES = st.integers(-3, 3).map(lambda number: number / 8)


@st.composite
def tables(draw) -> CipherVectors:
    size, vector_size = draw(st.integers(2, 12)), draw(st.integers(1, 5))
    rows = draw(arrays(np.float32, (size, vector_size), elements=VALUES))
    words = [f"w{row}" for row in range(size)]
    oov_row = draw(st.integers(0, size))
    if oov_row < size:
        words[oov_row] = OOV
    return CipherVectors(words, rows)


def plain_cosine(first, second) -> float:
    product = math.fsum(float(a) * float(b) for a, b in zip(first, second, strict=True))
    lengths = [math.sqrt(math.fsum(float(a) ** 2 for a in vector)) for vector in (first, second)]
    return product / math.prod(lengths) if all(lengths) else 0.0


def plain_unit(vector) -> np.ndarray:
    length = math.sqrt(math.fsum(float(a) ** 2 for a in vector))
    return np.array([float(a) / length if length else 0.0 for a in vector])


@given(tables(), st.data())
def test_most_similar_matches_brute_force(table, data):
    words = st.sampled_from(table.index_to_key)
    positive = data.draw(st.lists(words, max_size=3))
    negative = data.draw(st.lists(words, min_size=not positive, max_size=2))
    topn = data.draw(st.integers(1, 14))
    restrict_vocab = data.draw(st.none() | st.integers(1, 14))

    query = np.zeros(table.vector_size)
    for sign, words in ((1, positive), (-1, negative)):
        query += sign * sum(plain_unit(table[word]) for word in words)
    # Rounding decides whether a nearly zero query has neighbors. The next test has an exact zero.
    assume(np.abs(query).max() > 1e-9)
    found = table.most_similar(positive, negative, topn, restrict_vocab=restrict_vocab)
    expected = [
        (plain_cosine(query, table[word]), word)
        for word in table.index_to_key[:restrict_vocab]
        if word not in {*positive, *negative, OOV} and table[word].any()
    ]
    best = sorted((cosine for cosine, _ in expected), reverse=True)[:topn]
    assert [cosine for _, cosine in found] == pytest.approx(best, abs=1e-6)
    cosine_of = {word: cosine for cosine, word in expected}
    assert [cosine for _, cosine in found] == pytest.approx([cosine_of[word] for word, _ in found], abs=1e-6)
    assert all(type(cosine) is float for _, cosine in found)
    # Ties are in order of rank.
    assert found == sorted(found, key=lambda item: (-item[1], table.key_to_index[item[0]]))


def test_zero_queries_have_no_neighbors():
    table = CipherVectors(["a", "b", "zero"], [[1, 0], [1, 1], [0, 0]])
    assert table.most_similar("zero") == []
    assert table.most_similar(["a"], ["a"]) == []
    assert table.similar_by_vector(np.zeros(2)) == []
    assert table.most_similar("zero", topn=None).tolist() == [0, 0, 0]


def test_equal_rows_tie_at_any_position_and_ties_are_in_order_of_rank():
    # 1,003 rows and 37 columns: BLAS would sum the last rows in another order than the first.
    row = np.random.default_rng(0).standard_normal(37, dtype=np.float32)
    table = CipherVectors([f"w{i}" for i in range(1_003)], np.tile(row, (1_003, 1)))
    assert [word for word, _ in table.most_similar("w3", topn=5)] == ["w0", "w1", "w2", "w4", "w5"]
    assert len({cosine for _, cosine in table.most_similar("w3", topn=1_002)}) == 1
    assert table.rank("w0", "w1002") == 1


# The expected values below are those of KeyedVectors in gensim 4.4 on these rows.
ROYALS = CipherVectors(
    ["king", "queen", "man", "woman", "crown", "apple"],
    [[5, 1, 4], [5, -1, 4.5], [1, 2, 0], [1, -2, 0.5], [4, 0, 5], [-1, 3, 1]],
)


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ((["king", "woman"], ["man"]), [("queen", 0.685135), ("crown", 0.572564), ("apple", -0.729415)]),
        (("king", None, 2), [("crown", 0.963925), ("queen", 0.952947)]),
        ((0, None, 2), [("crown", 0.963925), ("queen", 0.952947)]),
        (
            ([("king", 2.0), "woman"], [("man", 0.5)]),  # an explicit weight is not negated
            [("queen", 0.983596), ("crown", 0.950442), ("apple", -0.125740)],
        ),
        (
            (["king", np.float32([0, 10, 0])], None, 3),  # vectors are not normalized
            [("man", 0.924042), ("apple", 0.895722), ("crown", 0.094482)],
        ),
        (("king", "man", 10, 0, None, 4), [("woman", 0.907008), ("queen", 0.743173)]),
        ((np.float32([1, 0, 0]), None, 2), [("king", 0.771517), ("queen", 0.735215)]),
        (("king", None, 0), []),
    ],
)
def test_most_similar_matches_gensim(arguments, expected):
    found = ROYALS.most_similar(*arguments)
    assert [word for word, _ in found] == [word for word, _ in expected]
    assert [cosine for _, cosine in found] == pytest.approx([cosine for _, cosine in expected], abs=2e-6)


def test_other_methods_match_gensim():
    near = partial(pytest.approx, abs=1e-6)
    assert ROYALS.n_similarity(["king", "queen"], ["man", "apple"]) == near(0.127014)
    assert ROYALS.doesnt_match(ROYALS.index_to_key) == "apple"
    assert ROYALS.doesnt_match(["king", "woman", "queen"]) == "woman"
    assert ROYALS.closer_than("king", "man") == ["queen", "crown"]
    assert ROYALS.rank("king", "man") == 3
    assert ROYALS.rank("king", "crown") == 1
    assert ROYALS.most_similar_to_given("king", ["apple", "man", "woman"]) == "man"
    assert ROYALS.similarity("king", "man") == near(0.483046)
    assert ROYALS.distance("king", "man") == near(0.516954)
    assert ROYALS.distances("king") == near([0, 0.047053, 0.516954, 0.663283, 0.036075, 0.906952])
    assert ROYALS.distances("king", ["man", "apple"]) == near([0.516954, 0.906952])
    assert ROYALS.most_similar("king", topn=None, restrict_vocab=3) == near([1, 0.952947, 0.483046])
    assert ROYALS.similar_by_word("king", 2) == ROYALS.similar_by_vector(ROYALS["king"], 3)[1:]
    assert type(ROYALS.similarity("king", "man")) is type(ROYALS.n_similarity(["king"], ["man"])) is float


@given(tables(), st.data())
def test_pairs_and_ranks_match_brute_force(table, data):
    words = st.sampled_from(table.index_to_key)
    first, second = data.draw(words), data.draw(words)
    cosine = plain_cosine(table[first], table[second])
    assert table.similarity(first, second) == pytest.approx(cosine, abs=1e-6)
    assert table.distance(first, second) == pytest.approx(1 - cosine, abs=1e-6)
    distances = table.distances(first)
    assert distances == pytest.approx([1 - plain_cosine(table[first], row) for row in table.vectors], abs=1e-6)
    some = data.draw(st.lists(words, min_size=1))
    rows = [table.key_to_index[word] for word in some]
    np.testing.assert_array_equal(table.distances(first, some), distances[rows])
    closer = table.closer_than(first, second)
    assert table.rank(first, second) == len(closer) + 1
    for word in table.index_to_key:
        other = plain_cosine(table[first], table[word])
        if word in {first, OOV} or not table[word].any() or other < cosine - 1e-6:
            assert word not in closer
        elif other > cosine + 1e-6:
            assert word in closer
    given_words = data.draw(st.lists(words, min_size=1))
    best = table.most_similar_to_given(first, given_words)
    assert plain_cosine(table[first], table[best]) == pytest.approx(
        max(plain_cosine(table[first], table[word]) for word in given_words), abs=1e-6
    )


@given(tables(), st.data())
def test_sets_of_words_match_brute_force(table, data):
    words = st.lists(st.sampled_from(table.index_to_key), min_size=1, max_size=5)
    first, second = data.draw(words), data.draw(words)
    expected = plain_cosine(table[first].sum(axis=0), table[second].sum(axis=0))
    assert table.n_similarity(first, second) == pytest.approx(expected, abs=1e-5)
    center = sum(plain_unit(table[word]) for word in first)
    farthest = table.doesnt_match(first)
    assert plain_unit(table[farthest]) @ center == pytest.approx(
        min(plain_unit(table[word]) @ center for word in first), abs=1e-6
    )


def test_oov_is_never_a_neighbor_but_can_be_a_query():
    table = CipherVectors(["a", OOV, "b"], [[1, 0], [1, 0.1], [0, 1]])
    assert [word for word, _ in table.most_similar("a")] == ["b"]
    assert table.closer_than("a", "b") == []
    assert [word for word, _ in table.most_similar(OOV)] == ["a", "b"]
    assert table.most_similar("unheard", oov=True) == table.most_similar(OOV)
    assert table.most_similar("a", topn=None)[1] == pytest.approx(1 / math.sqrt(1.01))


def test_every_method_raises_for_unknown_words_unless_oov_is_true():
    table = CipherVectors(["a", OOV, "b"], [[1, 0], [1, 0.5], [0, 1]])
    calls = [
        lambda word, **oov: table.most_similar(["a", word], **oov),
        lambda word, **oov: table.most_similar("a", word, **oov),
        lambda word, **oov: table.similar_by_word(word, **oov),
        lambda word, **oov: table.similarity("a", word, **oov),
        lambda word, **oov: table.distance(word, "a", **oov),
        lambda word, **oov: table.n_similarity(["a", word], ["b"], **oov),
        lambda word, **oov: table.distances(word, **oov).tolist(),
        lambda word, **oov: table.distances("a", ["b", word], **oov).tolist(),
        lambda word, **oov: table.doesnt_match(["a", "b", word], **oov) == word,
        lambda word, **oov: table.most_similar_to_given(word, ["a", "b"], **oov),
        lambda word, **oov: table.closer_than(word, "b", **oov),
        lambda word, **oov: table.rank("b", word, **oov),
    ]
    for call in calls:
        with pytest.raises(UnknownWordError, match="'unheard'"):
            call("unheard")
        assert call("unheard", oov=True) == call(OOV)


def test_zero_rows_have_similarity_0():
    table = CipherVectors(["a", "zero", "b"], [[1, 0], [0, 0], [-1, 0.1]])
    assert [word for word, _ in table.most_similar("a")] == ["b"]
    assert table.similarity("a", "zero") == table.similarity("zero", "zero") == 0
    assert table.distances("zero").tolist() == [1, 1, 1]
    assert table.rank("a", "b") == 1
    assert table.n_similarity(["zero"], ["a"]) == 0
    assert table.doesnt_match(["zero", "zero"]) == "zero"


def test_values_that_are_not_finite_raise():
    words = pa.array(["a", "bad", "c"], pa.large_string())
    rows = np.array([[1, 0], [1, math.nan], [0, 1]], np.float32)
    table = CipherVectors.from_mapped(words, rows, None, None, None, {})
    assert table.similarity("a", "c") == 0
    for query in (lambda: table.most_similar("a"), lambda: table.similarity("a", "bad")):
        with pytest.raises(BitcipherError, match="not finite"):
            query()
    with pytest.raises(BitcipherError, match="'huge'"):
        CipherVectors(["a", "huge"], [[1, 0], [3e38, 3e38]])


@pytest.mark.parametrize(
    "query",
    [
        lambda: ROYALS.most_similar(),
        lambda: ROYALS.most_similar(["king"], topn=2.5),
        lambda: ROYALS.most_similar("king", restrict_vocab=0),
        lambda: ROYALS.most_similar([("king", "queen")]),
        lambda: ROYALS.most_similar([("king", math.inf)]),
        lambda: ROYALS.most_similar(2.5),
        lambda: ROYALS.most_similar([[1.0, 2.0, 3.0]]),
        lambda: ROYALS.similar_by_vector([1, 2]),
        lambda: ROYALS.similar_by_vector([1, 2, math.nan]),
        lambda: ROYALS.distances(np.ones(2)),
        lambda: ROYALS.distances(None),
        lambda: ROYALS.n_similarity([], ["king"]),
        lambda: ROYALS.doesnt_match([]),
        lambda: ROYALS.most_similar_to_given("king", []),
    ],
)
def test_invalid_queries_raise(query):
    with pytest.raises(BitcipherError):
        query()

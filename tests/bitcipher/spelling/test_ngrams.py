"""Character n-grams against plain Python, with hypothesis."""

import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

from bitcipher.spelling.ngrams import hash_ngram, list_ngrams, spell_ngrams

# Surrogates are no characters, so Arrow cannot hold them.
characters = st.one_of(st.sampled_from("ab<>é中😀\u0301"), st.characters(exclude_categories=["Cs"]))
words = st.lists(st.text(characters, max_size=9), max_size=6)
lengths = st.tuples(st.integers(1, 4), st.integers(0, 3)).map(lambda pair: (pair[0], sum(pair)))


def plain_ngrams(word, shortest, longest):
    marked = f"<{word}>"
    pairs = [(start, start + size) for size in range(shortest, longest + 1) for start in range(len(marked))]
    return {marked[start:stop] for start, stop in pairs if stop <= len(marked)}


@given(words, lengths)
@settings(max_examples=200, deadline=None)
def test_hashes_are_those_of_the_ngrams_of_each_word(words, lengths):
    found = list_ngrams(pa.array(words, pa.large_string()), lengths)
    assert len(found.starts) == len(words) + 1
    for word, start, stop in zip(words, found.starts[:-1], found.starts[1:], strict=True):
        expected = plain_ngrams(word, *lengths)
        assert found.hashes[start:stop].tolist() == sorted(map(hash_ngram, expected))
        assert sorted(spell_ngrams(word, lengths)) == sorted(expected)


def test_slices_of_words_have_their_own_ngrams():
    words = pa.array(["cat", "dog", "bird"], pa.large_string())
    part = list_ngrams(words.slice(1, 1), (3, 6))
    assert part.hashes.tolist() == sorted(map(hash_ngram, ["<do", "dog", "og>", "<dog", "dog>", "<dog>"]))


def test_hashes_do_not_change_between_versions():
    # Stored vectors have these hashes.
    found = [hash_ngram(ngram) for ngram in ("<un", "ing>", "中")]
    assert found == [
        7001354349030491084,
        -9135691567260140579,
        -5787793706495883524,
    ]

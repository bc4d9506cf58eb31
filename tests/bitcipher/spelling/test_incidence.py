"""Known n-grams of words."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from bitcipher.spelling.incidence import NgramIndex, find_incidence
from bitcipher.spelling.ngrams import NgramLists

hashes = st.lists(st.integers(-3, 3) | st.integers(-(2**63), 2**63 - 1), unique=True).map(sorted)


@given(hashes, hashes, st.data())
def test_columns_are_those_of_known_ngrams(known, others, data):
    ngrams = data.draw(st.lists(st.sampled_from([*known, *others]), unique=True)) if known or others else []
    lists = NgramLists(np.array([0, len(ngrams)]), np.array(ngrams, np.int64))
    incidence = find_incidence(lists, NgramIndex.of_hashes(np.array(known, np.int64)))
    expected = [known.index(ngram) for ngram in ngrams if ngram in known]
    assert (incidence.indices.tolist(), incidence.starts.tolist()) == (expected, [0, len(expected)])
    assert incidence.columns == len(known)

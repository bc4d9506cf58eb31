"""Sentences of token shards."""

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bitcipher.errors import BitcipherError
from training.data.token_sentences import TokenSentences

END = 2


def stream_of(documents):
    """Return a `TokenStream` of documents, each with its end token."""
    tokens = np.array([token for document in documents for token in (*document, END)], np.int64)
    ends = np.cumsum([len(document) + 1 for document in documents]).astype(np.int64)
    return SimpleNamespace(ends=ends, read=lambda starts, length: tokens[starts[:, None] + np.arange(length)])


@given(st.lists(st.lists(st.integers(5, 99), max_size=12), min_size=2, max_size=8), st.integers(1, 6))
def test_pieces_are_the_documents_in_order(documents, max_length):
    expected = [
        document[start : start + max_length] for document in documents for start in range(0, len(document), max_length)
    ]
    if len(expected) < 2:
        with pytest.raises(BitcipherError, match="training split has fewer than two sentences"):
            TokenSentences(stream_of(documents), max_length, "training")
        return
    sentences = TokenSentences(stream_of(documents), max_length, "training")
    ids = np.random.default_rng(0).permutation(len(sentences))
    assert len(sentences) == len(expected)
    assert [piece.tolist() for piece in sentences.take(ids)] == [expected[number] for number in ids]
    assert sentences.lengths.tolist() == [len(piece) for piece in expected]

"""Tokenizer that threads share."""

import gc
from concurrent.futures import ThreadPoolExecutor

import pyarrow as pa
import pytest

from bitcipher.errors import BitcipherError
from pipelines.tokenizers.registry import make_tokenizer
from pipelines.tokenizers.shared_tokenizer import share_tokenizer


def words(tokens):
    return tokens.words.take(pa.array(tokens.ids)).to_pylist()


@pytest.mark.long
def test_threads_get_the_tokens_of_their_own_documents():
    texts = [[f"Word{thread} don't {number}" for number in range(100)] for thread in range(4)]
    expected = [words(make_tokenizer("spacy", True).tokenize(pa.array(each, pa.large_string()))) for each in texts]

    def tokenize(documents):
        tokenizer = share_tokenizer("spacy", True, 10_000)
        found = []
        for document in documents:
            found += words(tokenizer.tokenize(pa.array([document], pa.large_string())))
        return found

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(tokenize, texts)) == expected


def test_one_tokenizer_is_shared_while_it_is_used():
    first = share_tokenizer("whitespace", True, 100)
    assert share_tokenizer("whitespace", True, 100) is first
    assert share_tokenizer("whitespace", False, 100) is not first
    first.tokenize(pa.array(["a b"], pa.large_string()))
    del first
    gc.collect()
    assert len(share_tokenizer("whitespace", True, 100).tokenize(pa.array(["c"], pa.large_string())).words) == 1


def test_unknown_tokenizer_raises():
    with pytest.raises(BitcipherError, match="nosuch"):
        share_tokenizer("nosuch", True, 100)

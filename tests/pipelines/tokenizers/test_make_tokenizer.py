import pytest

from bitcipher.errors import BitcipherError
from pipelines.tokenizers.registry import make_tokenizer


@pytest.mark.parametrize("name", ["nltk", "tokenizer.model", ""])
def test_unknown_tokenizers_raise(name):
    with pytest.raises(BitcipherError, match="`tokenizer` must be spacy, spacy-exact, whitespace"):
        make_tokenizer(name, lowercase=True)

import pytest

from bitcipher import BitcipherError
from pipelines.tokenizers import make_tokenizer


@pytest.mark.parametrize("name", ["", "nltk", "spacy-fast", "tokenizer.model", "Spacy"])
def test_an_unknown_tokenizer_is_an_error_that_lists_them(name):
    message = (
        rf"There is no tokenizer '{name}': choose spacy, spacy-exact, whitespace, or give the path of a tokenizer.json"
    )
    with pytest.raises(BitcipherError, match=message):
        make_tokenizer(name, lowercase=True)

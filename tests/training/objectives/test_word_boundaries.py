import pytest
from tokenizers import Tokenizer, models, pre_tokenizers

from bitcipher.errors import BitcipherError
from training.data.train_tokenizer import train_tokenizer
from training.objectives.word_boundaries import word_starts

TEXTS = ["the cats were chasing other cats\nunhappily, again and again", "cats chase the unhappy mice again"] * 20


@pytest.mark.parametrize("kind", ["bpe", "wordpiece", "unigram"])
def test_word_starts_follow_blanks(kind):
    size = {"bpe": 300, "wordpiece": 60, "unigram": 60}[kind]
    tokenizer = train_tokenizer(TEXTS, kind, size)
    starts = word_starts(tokenizer)
    assert starts.shape == (tokenizer.get_vocab_size(),)
    text = "the cats were chasing unhappily again"
    encoded = tokenizer.encode(text, add_special_tokens=False)
    found = [start for token, (start, _) in zip(encoded.ids[1:], encoded.offsets[1:], strict=True) if starts[token]]
    # Offsets of some tokenizers include the blank before the word.
    assert [start + (text[start] == " ") for start in found] == [4, 9, 14, 22, 32]
    assert len(encoded.ids) > 6  # otherwise no word was split


def test_tokenizer_without_word_marks_raises():
    tokenizer = Tokenizer(models.BPE({"a": 0, "b": 1}, []))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    with pytest.raises(BitcipherError, match=r"does not mark where words begin"):
        word_starts(tokenizer)

import pytest
from tokenizers import Tokenizer, models

from bitcipher.errors import BitcipherError
from training.data.special_tokens import SpecialTokens, special_tokens


def tokenizer_with(special, *, plain=("the", "cat")):
    """Return a tokenizer with the given special tokens first, followed by words."""
    words = [*special, *plain]
    tokenizer = Tokenizer(models.WordLevel({word: number for number, word in enumerate(words)}, unk_token=words[0]))
    tokenizer.add_special_tokens(list(special))
    return tokenizer


FAMILIES = {
    "roberta": (["<s>", "<pad>", "</s>", "<unk>", "<mask>"], SpecialTokens(1, 0, 2, 3, 4, ())),
    "bert": (["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"], SpecialTokens(0, 2, 3, 1, 4, ())),
    "gpt2": (["<|endoftext|>"], SpecialTokens(0, 0, 0, 0, None, ())),
    "t5": (
        ["<pad>", "</s>", "<unk>", "<extra_id_1>", "<extra_id_0>", "<extra_id_2>", "<extra_id_9>"],
        SpecialTokens(0, 1, 1, 2, None, (4, 3, 5)),
    ),
}


@pytest.mark.parametrize("family", FAMILIES)
def test_special_tokens_of_published_families(family):
    names, expected = FAMILIES[family]
    assert special_tokens(tokenizer_with(names)) == expected


def test_unmarked_token_is_not_special():
    # As in OPT, whose texts begin with `</s>`.
    tokenizer = tokenizer_with(["<pad>", "</s>"], plain=["<s>", "<unk>", "the"])
    assert special_tokens(tokenizer) == SpecialTokens(0, 1, 1, 1, None, ())


def test_added_special_token_is_found():
    tokenizer = tokenizer_with(["</s>"])
    tokenizer.add_special_tokens(["<mask>"])
    assert special_tokens(tokenizer).mask == 3


def test_missing_end_token_raises():
    with pytest.raises(BitcipherError, match="no end token"):
        special_tokens(tokenizer_with(["<pad>", "<s>"]))

import pytest
from tokenizers import Tokenizer, models

from bitcipher.errors import BitcipherError
from training.data import SpecialTokens, special_tokens


def twin(special, *, plain=("the", "cat")):
    """A tokenizer with these special tokens first, and words that are none."""
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
def test_the_families_of_models(family):
    names, expected = FAMILIES[family]
    assert special_tokens(twin(names)) == expected


def test_a_name_in_the_vocabulary_that_is_not_marked_special_is_a_word():
    # As in OPT, whose texts begin with `</s>`.
    tokenizer = twin(["<pad>", "</s>"], plain=["<s>", "<unk>", "the"])
    assert special_tokens(tokenizer) == SpecialTokens(0, 1, 1, 1, None, ())


def test_a_token_that_is_added_to_a_vocabulary_is_found_by_its_id():
    tokenizer = twin(["</s>"])
    tokenizer.add_special_tokens(["<mask>"])
    assert special_tokens(tokenizer).mask == 3


def test_a_tokenizer_without_an_end_is_told_what_it_lacks():
    with pytest.raises(BitcipherError, match=r"no special token that ends a text: it needs one of </s>, \[SEP\], "):
        special_tokens(twin(["<pad>", "<s>"]))

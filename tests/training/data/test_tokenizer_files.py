import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers

from bitcipher.errors import BitcipherError
from pipelines.tokenizers.tokenizer_json import load_tokenizer
from training.data.tokenizer_files import plain_text_tokenizer, save_tokenizer
from training.data.train_tokenizer import train_tokenizer

KINDS = ("bpe", "wordpiece", "unigram")
SPECIAL = ["<pad>", "<s>", "</s>", "<unk>", "<mask>", "<extra_id_0>"]
LETTERS = 'The cat </s> sat <extra_id_0> on <pad> the <unk> <mask> drunk mat [PAD] <s> and said: "no".'


@pytest.fixture(scope="module", params=KINDS)
def tokenizer(request):
    return train_tokenizer([LETTERS] * 100, request.param, 300, sentinels=1)


def ids(tokenizer, text):
    return tokenizer.encode(text, add_special_tokens=False).ids


@pytest.mark.parametrize("name", SPECIAL)
def test_special_token_names_are_encoded_as_text(tokenizer, name):
    assert ids(tokenizer, name) == [SPECIAL.index(name)]  # without the copy
    found = ids(plain_text_tokenizer(tokenizer), f"a {name} d{name}")
    assert min(found) >= len(SPECIAL)
    assert tokenizer.decode(found, skip_special_tokens=False).replace(" ", "") == f"a{name}d{name}"


def test_plain_text_has_same_tokens(tokenizer):
    encoder = plain_text_tokenizer(tokenizer)
    for text in ("The cat sat", "", "  on the\n\nmat ", "no, the cat"):
        assert ids(encoder, text) == ids(tokenizer, text)


def test_unknown_characters_give_unknown_token():
    tokenizer = train_tokenizer([LETTERS] * 100, "wordpiece", 300)
    assert ids(plain_text_tokenizer(tokenizer), "the \u6f22") == ids(tokenizer, "the") + [3]


@given(st.text(alphabet="<>/spadunkm <mask> ", max_size=30))
def test_no_text_gives_special_tokens(text):
    # Whole words are pieces here, the special ones as well.
    words = {word: number for number, word in enumerate([*SPECIAL, "a", "s"])}
    tokenizer = Tokenizer(models.WordLevel(words, unk_token="<unk>"))
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    tokenizer.add_special_tokens(SPECIAL)
    expected = [words[word] if word in ("a", "s") else words["<unk>"] for word in text.split()]
    assert ids(plain_text_tokenizer(tokenizer), text) == expected


def test_added_tokens_that_are_not_special_stay_whole():
    tokenizer = train_tokenizer([LETTERS] * 100, "bpe", 300)
    tokenizer.add_tokens(["catsat"])
    assert ids(plain_text_tokenizer(tokenizer), "catsat") == [tokenizer.token_to_id("catsat")]


def test_truncation_and_padding_are_disabled(tokenizer, tmp_path):
    other = Tokenizer.from_str(tokenizer.to_str())
    other.enable_truncation(2)
    other.enable_padding(length=50)
    save_tokenizer(other, str(tmp_path / "tokenizer.json"))
    expected = ids(tokenizer, "the cat sat on the mat")
    assert len(expected) > 2
    for copy in (plain_text_tokenizer(other), load_tokenizer(str(tmp_path / "tokenizer.json"))):
        assert ids(copy, "the cat sat on the mat") == expected


def test_tokenizer_round_trip(tokenizer, tmp_path):
    first, second = str(tmp_path / "a" / "tokenizer.json"), str(tmp_path / "b" / "tokenizer.json")
    save_tokenizer(tokenizer, first)
    loaded = load_tokenizer(first)
    save_tokenizer(loaded, second)
    assert (tmp_path / "a" / "tokenizer.json").read_bytes() == (tmp_path / "b" / "tokenizer.json").read_bytes()
    assert ids(loaded, LETTERS) == ids(tokenizer, LETTERS)


def test_invalid_tokenizer_file_raises(tmp_path):
    with pytest.raises(BitcipherError, match=r"tokenizer\.json"):
        load_tokenizer(str(tmp_path / "tokenizer.json"))
    (tmp_path / "other.json").write_text('{"a": 1}')
    with pytest.raises(BitcipherError, match=r"other\.json is not a Hugging Face tokenizer\.json"):
        load_tokenizer(str(tmp_path / "other.json"))


def test_copy_keeps_normalizer():
    tokenizer = Tokenizer(models.WordLevel({"</s>": 0, "cat": 1}, unk_token="</s>"))
    tokenizer.normalizer = normalizers.Lowercase()
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.add_special_tokens(["</s>"])
    assert ids(plain_text_tokenizer(tokenizer), "CAT") == [1]

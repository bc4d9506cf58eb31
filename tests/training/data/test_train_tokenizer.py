import hashlib
import os
import subprocess
import sys

import pytest

from bitcipher.errors import BitcipherError
from training.data.special_tokens import special_tokens
from training.data.train_tokenizer import train_tokenizer

KINDS = ("bpe", "wordpiece", "unigram")
# Many words and pairs of characters are equally frequent, so any dependence on their order would show.
MAKE_TEXTS = """
import hashlib
words = [hashlib.sha256(str(number).encode()).hexdigest()[: 3 + number % 6] for number in range(300)]
OTHERS = " \u0627\u0644\u0642\u0637\u0629 caf\u00e9, (no)!"
TEXTS = [" ".join(words[(i * j) % 300] for j in range(1, 60)) + OTHERS for i in range(1, 60)]
"""
SCRIPT = (
    MAKE_TEXTS
    + """
import sys
from training.data.train_tokenizer import train_tokenizer
for kind in sys.argv[1:]:
    content = train_tokenizer(iter(TEXTS), kind, 350, sentinels=2).to_str(pretty=True)
    print(kind, hashlib.sha256(content.encode()).hexdigest())
"""
)


def texts() -> list[str]:
    names: dict = {}
    exec(MAKE_TEXTS, names)
    return names["TEXTS"]


@pytest.mark.parametrize("threads", ["1", "3"])
def test_training_is_deterministic_across_processes(threads):
    made = (train_tokenizer(texts(), kind, 350, sentinels=2).to_str(pretty=True) for kind in KINDS)
    digests = (hashlib.sha256(content.encode()).hexdigest() for content in made)
    command = [sys.executable, "-c", SCRIPT, *KINDS]
    there = subprocess.run(
        command, env={**os.environ, "RAYON_NUM_THREADS": threads}, capture_output=True, text=True, check=True
    )
    assert there.stdout.split() == [word for pair in zip(KINDS, digests, strict=True) for word in pair]


@pytest.mark.parametrize("kind", KINDS)
def test_order_of_texts_does_not_change_tokenizer(kind):
    made = [train_tokenizer(order, kind, 350).to_str() for order in (texts(), texts()[::-1])]
    assert made[0] == made[1]


@pytest.mark.parametrize("kind", KINDS)
def test_special_tokens_have_first_ids(kind):
    tokenizer = train_tokenizer(texts(), kind, 350, sentinels=2)
    names = ["<pad>", "<s>", "</s>", "<unk>", "<mask>", "<extra_id_0>", "<extra_id_1>"]
    assert [tokenizer.id_to_token(number) for number in range(7)] == names
    found = special_tokens(tokenizer)
    assert (found.pad, found.begin, found.end, found.unknown, found.mask, found.sentinels) == (0, 1, 2, 3, 4, (5, 6))
    assert tokenizer.get_vocab_size() <= 350
    assert sorted(tokenizer.get_vocab().values()) == list(range(tokenizer.get_vocab_size()))


@pytest.mark.parametrize("kind", KINDS)
def test_special_token_names_in_text_add_no_tokens(kind):
    tokenizer = train_tokenizer(["</s>", "a </s>b", "<mask></s>"] * 500 + texts(), kind, 350)
    assert sorted(tokenizer.get_vocab().values()) == list(range(tokenizer.get_vocab_size()))


@pytest.mark.parametrize("kind", KINDS)
def test_decode_inverts_encode(kind):
    tokenizer = train_tokenizer(texts(), kind, 350)
    text = "\u0627\u0644\u0642\u0637\u0629 caf\u00e9, (no)!"
    ids = tokenizer.encode(text).ids
    assert special_tokens(tokenizer).unknown not in ids
    assert tokenizer.decode(ids).replace(" ", "") == text.replace(" ", "")


@pytest.mark.parametrize("kind", KINDS)
def test_frequent_words_are_tokens(kind):
    tokenizer = train_tokenizer(["the house is there, the houses were theirs"] * 200 + texts(), kind, 400)
    assert len(tokenizer.encode("the house").ids) <= 3


def test_byte_level_bpe_encodes_any_text():
    tokenizer = train_tokenizer(texts(), "bpe", 300)
    for text in ("line\u2028separator\u0085 and\r\n\tmore  ", "\u6f22\u5b57 \U0001f600", "\u0000"):
        assert tokenizer.decode(tokenizer.encode(text).ids) == text


@pytest.mark.parametrize("kind", KINDS)
def test_lowercase(kind):
    corpus = [*texts(), "THE House the house The " * 20]
    exact = train_tokenizer(corpus, kind, 350)
    lower = train_tokenizer(corpus, kind, 350, lowercase=True)
    assert exact.encode("THE House").ids != exact.encode("the house").ids
    assert lower.encode("THE House").ids == lower.encode("the house").ids


def test_mask_token_includes_preceding_space():
    tokenizer = train_tokenizer(texts(), "bpe", 300)
    assert tokenizer.encode("a <mask>.").ids == [tokenizer.token_to_id(token) for token in ("a", "<mask>", ".")]


def test_wordpiece_limits_characters():
    rare = [chr(0x4E00 + number) for number in range(1200)]
    tokenizer = train_tokenizer([*texts(), *rare], "wordpiece", 2100)
    assert tokenizer.token_to_id("a") is not None
    assert sum(tokenizer.token_to_id(letter) is not None for letter in rare) < 1000


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("nothing", [[], ["", " \n\u2028"]])
def test_empty_text_raises(kind, nothing):
    with pytest.raises(BitcipherError, match="no text"):
        train_tokenizer(iter(nothing), kind, 350)


@pytest.mark.parametrize("kind", KINDS)
def test_surrogate_in_text_raises(kind):
    with pytest.raises(BitcipherError, match="not valid Unicode"):
        train_tokenizer([*texts(), "bad \ud800 text"], kind, 350)


@pytest.mark.parametrize(("kind", "size"), [("bpe", 260), ("wordpiece", 40), ("unigram", 12)])
def test_too_small_vocabulary_raises(kind, size):
    with pytest.raises(BitcipherError, match=f"{kind} tokenizer"):
        train_tokenizer(texts(), kind, size)


def test_unknown_kind_raises():
    with pytest.raises(BitcipherError, match="one of bpe, wordpiece, unigram, got 'words'"):
        train_tokenizer(texts(), "words", 350)

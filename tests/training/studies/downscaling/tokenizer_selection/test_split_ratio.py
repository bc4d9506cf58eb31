import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers.processors import BertProcessing

from bitcipher.errors import BitcipherError
from training.data.counter_rng import derive_key
from training.data.train_tokenizer import train_tokenizer
from training.studies.downscaling.tokenizer_selection.split_ratio import draw_examples, split_ratio

LETTERS = train_tokenizer(["a"], "bpe", 5 + 256)  # every byte is a token
DOCUMENTS = st.lists(st.text("ab \n", max_size=20), min_size=1, max_size=30)


def examples_of(documents):
    words = [document.split() for document in documents]
    return {" ".join(each[at : at + 110]) for each in words for at in range(0, len(each), 110)}


@given(DOCUMENTS, st.integers(1, 12), st.randoms())
@settings(max_examples=60)
def test_examples_have_smallest_keys_in_any_order(documents, number, random):
    expected = sorted(examples_of(documents), key=lambda example: derive_key("word-split ratio", example))[:number]
    if not expected:
        with pytest.raises(BitcipherError, match="no text to measure"):
            draw_examples(documents, number)
        return
    random.shuffle(documents)
    assert draw_examples(iter(documents), number) == expected


def test_smaller_sample_is_prefix_of_larger_one():
    documents = [f"text {number}" for number in range(200)]
    assert draw_examples(documents, 200)[:20] == draw_examples(documents, 20)


def test_long_document_is_split_into_examples_of_110_words():
    book = " ".join(str(number) for number in range(250))
    assert sorted(len(example.split()) for example in draw_examples([book], 10)) == [30, 110, 110]


def test_invalid_unicode_raises():
    with pytest.raises(BitcipherError, match=r"half a surrogate pair\) and begins 'a \\ud800'"):
        draw_examples(["a \ud800"], 3)


@given(st.lists(st.text("abcxyz .,<s>é", min_size=1, max_size=30).filter(str.strip), min_size=1, max_size=6))
@settings(max_examples=60)
def test_split_ratio_is_tokens_per_word(texts):
    texts = [" ".join(text.split()) for text in texts]
    words = sum(len(text.split()) for text in texts)
    assert split_ratio(LETTERS, texts) == sum(len(text.encode()) for text in texts) / words


def test_split_ratio_of_unsplit_words_is_1():
    texts = ["cook and sing and cook"] * 300  # more than one batch
    assert split_ratio(train_tokenizer(texts, "wordpiece", 60), texts) == 1
    assert split_ratio(train_tokenizer(texts, "unigram", 60), ["cooksing"]) > 1


def test_special_tokens_are_not_counted():
    tokenizer = train_tokenizer(["cook"], "wordpiece", 40)
    alone = split_ratio(tokenizer, ["cook"])
    tokenizer.post_processor = BertProcessing(("</s>", 2), ("<s>", 1))
    assert tokenizer.encode("cook").tokens[0] == "<s>"
    assert split_ratio(tokenizer, ["cook"]) == alone == 1

import pytest

from bitcipher.errors import BitcipherError
from training.tasks.sentences import SentenceExample, SentenceTask
from training.tasks.vocabulary_filter import filter_by_vocabulary

WORDS = frozenset({"the", "cat", "sat", "dont", "whats", "true"})


def task(*examples, train=()):
    parts = [
        tuple(SentenceExample(*(example if isinstance(example, tuple) else (example, None)), 1) for example in part)
        for part in (train, examples)
    ]
    return SentenceTask("Mine", "classification", ("0", "1"), *parts, ("accuracy",))


def kept(filtered):
    return [example.first for example in filtered.validation]


def test_examples_with_unknown_word_are_dropped():
    filtered = filter_by_vocabulary(task("The cat sat .", "the dog sat", "What's 3 + 4 ?", "don't", "The CAT"), WORDS)
    assert kept(filtered) == ["The cat sat .", "What's 3 + 4 ?", "don't", "The CAT"]


def test_both_sentences_must_be_known():
    assert kept(filter_by_vocabulary(task(("the cat", "the dog"), ("the cat", "sat")), WORDS)) == ["the cat"]


def test_share_allows_unknown_words():
    examples = task("the cat sat there", "the dog ran there")
    assert kept(filter_by_vocabulary(examples, WORDS, share=0.75)) == ["the cat sat there"]
    assert kept(filter_by_vocabulary(examples, WORDS, share=0.25)) == ["the cat sat there", "the dog ran there"]


def test_remark_gives_numbers_of_remaining_examples():
    filtered = filter_by_vocabulary(task("the cat", "a dog", train=["the cat", "a dog", "a bird"]), WORDS)
    assert filtered.remarks == (
        "Mine: 1 of 3 examples (train) and 1 of 2 examples (validation) remain, in a vocabulary of 6 words.",
    )
    with pytest.raises(BitcipherError, match=r"None of the 1 examples of Mine \(validation\)"):
        filter_by_vocabulary(task("a dog"), WORDS)


@pytest.mark.parametrize("share", [0, 1.5, float("nan")])
def test_invalid_share_raises(share):
    with pytest.raises(BitcipherError, match="above 0 and at most 1"):
        filter_by_vocabulary(task("the cat"), WORDS, share)

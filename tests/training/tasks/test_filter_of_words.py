import pytest

from bitcipher.errors import BitcipherError
from training.tasks.filter import keep_known, read_words, words_of
from training.tasks.sentences import SentenceExample, SentenceTask

WORDS = frozenset({"the", "cat", "sat", "dont", "whats", "true"})


def task(*examples, train=()):
    parts = [
        tuple(SentenceExample(*(example if isinstance(example, tuple) else (example, None)), 1) for example in part)
        for part in (train, examples)
    ]
    return SentenceTask("Mine", "classification", ("0", "1"), *parts, ("accuracy",))


def kept(filtered):
    return [example.first for example in filtered.validation]


def test_words_are_letters_between_spaces_in_lower_case():
    assert words_of("The cat's well-known 3 cats, don't!") == ["the", "cats", "wellknown", "cats", "dont"]
    # Names pass, the first word never does, and so do what tokenizers cut from contractions.
    assert words_of("Peter saw Mary 's cat , did n't he ?") == ["peter", "saw", "cat", "did", "he"]
    assert words_of("2012 ... --") == []


def test_examples_with_an_unknown_word_are_left_out():
    filtered = keep_known(task("The cat sat .", "the dog sat", "What's 3 + 4 ?", "don't", "The CAT"), WORDS)
    assert kept(filtered) == ["The cat sat .", "What's 3 + 4 ?", "don't", "The CAT"]


def test_both_sentences_count():
    assert kept(keep_known(task(("the cat", "the dog"), ("the cat", "sat")), WORDS)) == ["the cat"]


def test_a_share_of_words_may_be_unknown():
    examples = task("the cat sat there", "the dog ran there")
    assert kept(keep_known(examples, WORDS, share=0.75)) == ["the cat sat there"]
    assert kept(keep_known(examples, WORDS, share=0.25)) == ["the cat sat there", "the dog ran there"]


def test_what_remains_is_told():
    filtered = keep_known(task("the cat", "a dog", train=["the cat", "a dog", "a bird"]), WORDS)
    assert filtered.remarks == (
        "Mine: 1 of 3 examples (train) and 1 of 2 examples (validation) remain, in a vocabulary of 6 words.",
    )
    with pytest.raises(BitcipherError, match=r"None of the 1 examples of Mine \(validation\)"):
        keep_known(task("a dog"), WORDS)


@pytest.mark.parametrize("share", [0, 1.5, float("nan")])
def test_a_share_out_of_bounds_is_told(share):
    with pytest.raises(BitcipherError, match="above 0 and at most 1"):
        keep_known(task("the cat"), WORDS, share)


def test_words_are_read_from_lines_and_from_the_study_s_table(tmp_path):
    (tmp_path / "words.txt").write_text("the\ncat\r\n\n sat \ndont\nwhats\ntrue")
    assert read_words(str(tmp_path / "words.txt")) == WORDS
    table = b",word,frequency\r\n0,the,9\r\n1,cat,3\r\n2,sat,2\r\n3,dont,1\r\n4,whats,1\r\n5,TRUE,1\r\n6,j\xe1nos,1\r\n"
    (tmp_path / "words.csv").write_bytes(table)
    assert read_words(str(tmp_path / "words.csv")) == WORDS | {"j\ufffdnos"}
    (tmp_path / "none.txt").write_text("\n \n")
    with pytest.raises(BitcipherError, match="holds no words"):
        read_words(str(tmp_path / "none.txt"))

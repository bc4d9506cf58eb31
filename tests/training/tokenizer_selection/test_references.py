import pytest

from bitcipher.errors import BitcipherError
from training.data import save_tokenizer, train_tokenizer
from training.tokenizer_selection import load_reference, parse_references


def test_references_by_kind():
    assert parse_references(["bpe=a=b/tokenizer.json", "unigram=s3://b/t5.json"]) == {
        "bpe": "a=b/tokenizer.json",
        "unigram": "s3://b/t5.json",
    }


@pytest.mark.parametrize("text", ["tokenizer.json", "bpe=", "word=tokenizer.json", "=tokenizer.json", ""])
def test_what_is_no_reference_is_told(text):
    with pytest.raises(BitcipherError, match=r"KIND=tokenizer.json with one of the kinds bpe, wordpiece, unigram"):
        parse_references([text])


def test_two_references_of_a_kind_are_one_too_many():
    with pytest.raises(BitcipherError, match="two references of kind bpe"):
        parse_references(["bpe=a", "bpe=b"])


@pytest.mark.parametrize(("kind", "size"), [("bpe", 262), ("wordpiece", 40), ("unigram", 20)])
def test_a_reference_is_of_its_kind(tmp_path, kind, size):
    path = str(tmp_path / "tokenizer.json")
    save_tokenizer(train_tokenizer(["cook and sing"], kind, size), path)
    assert load_reference(kind, path).encode("cook").ids
    other = "unigram" if kind == "bpe" else "bpe"
    with pytest.raises(BitcipherError, match=f"The reference of kind {other} must be"):
        load_reference(other, path)


def test_a_reference_that_is_missing_or_no_tokenizer_is_told(tmp_path):
    with pytest.raises(BitcipherError, match=r"none\.json"):
        load_reference("bpe", str(tmp_path / "none.json"))
    (tmp_path / "text.json").write_text("{}")
    with pytest.raises(BitcipherError, match=r"not a Hugging Face tokenizer\.json"):
        load_reference("bpe", str(tmp_path / "text.json"))

import pytest

from bitcipher.errors import BitcipherError
from training.data.tokenizer_files import save_tokenizer
from training.data.train_tokenizer import train_tokenizer
from training.studies.downscaling.tokenizer_selection.references import load_reference, parse_references


def test_parse_references():
    assert parse_references(["bpe=a=b/tokenizer.json", "unigram=s3://b/t5.json"]) == {
        "bpe": "a=b/tokenizer.json",
        "unigram": "s3://b/t5.json",
    }


@pytest.mark.parametrize("text", ["tokenizer.json", "bpe=", "word=tokenizer.json", "=tokenizer.json", ""])
def test_invalid_reference_raises(text):
    with pytest.raises(BitcipherError, match=r"KIND=PATH, where KIND is one of bpe, wordpiece, unigram"):
        parse_references([text])


def test_two_references_of_one_kind_raise():
    with pytest.raises(BitcipherError, match="two references of kind bpe"):
        parse_references(["bpe=a", "bpe=b"])


@pytest.mark.parametrize(("kind", "size"), [("bpe", 262), ("wordpiece", 40), ("unigram", 20)])
def test_reference_of_other_kind_raises(tmp_path, kind, size):
    path = str(tmp_path / "tokenizer.json")
    save_tokenizer(train_tokenizer(["cook and sing"], kind, size), path)
    assert load_reference(kind, path).encode("cook").ids
    other = "unigram" if kind == "bpe" else "bpe"
    with pytest.raises(BitcipherError, match=f"The reference of kind {other} must be"):
        load_reference(other, path)


def test_missing_or_invalid_reference_file_raises(tmp_path):
    with pytest.raises(BitcipherError, match=r"none\.json"):
        load_reference("bpe", str(tmp_path / "none.json"))
    (tmp_path / "text.json").write_text("{}")
    with pytest.raises(BitcipherError, match=r"not a Hugging Face tokenizer\.json"):
        load_reference("bpe", str(tmp_path / "text.json"))


def test_vocabulary_of_bert_is_a_reference(tmp_path):
    from transformers import BertTokenizer

    text = "The CAFÉ cooks [SEP] unicorns, cooking"
    words = ["the", "cafe", "cook", "##s", "##ing", ","]
    for pieces in (words, [*words, "The", "CAFÉ"]):
        path = tmp_path / "vocab.txt"
        path.write_text("\n".join(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *pieces]) + "\n")
        expected = BertTokenizer(str(path), do_lower_case=pieces is words, tokenize_chinese_chars=True)
        found = load_reference("wordpiece", str(path)).encode(text)
        assert found.ids == expected(text)["input_ids"]


def test_other_text_file_is_no_vocabulary_of_bert(tmp_path):
    path = tmp_path / "vocab.txt"
    path.write_text("the\n[UNK]\n[SEP]\n")
    with pytest.raises(BitcipherError, match=r"no piece \[CLS\]; use the vocab\.txt"):
        load_reference("wordpiece", str(path))
    path.write_bytes(b"caf\xe9")
    with pytest.raises(BitcipherError, match="not text in UTF-8"):
        load_reference("wordpiece", str(path))
    path.write_text("[UNK]\n[CLS]\n[SEP]\n")
    with pytest.raises(BitcipherError, match="must be a tokenizer of model BPE"):
        load_reference("bpe", str(path))

import json

import pyarrow as pa
import pytest
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors, trainers

from bitcipher import BitcipherError
from bitcipher.counts.context_window import ContextWindow
from bitcipher.counts.shard_counts import count_shard
from pipelines.tokenizers import huggingface
from pipelines.tokenizers.registry import make_tokenizer

TEXTS = [
    "the cat sat on the mat",
    "",
    "a cataract of 😀 and naïve cats\n\nand the  rest",
    "the " * 300,
    "[CLS] is said here",
]


def trained():
    """Byte-level BPE tokenizer that adds special tokens, truncates and pads, as tokenizers of models do."""
    tokenizer = Tokenizer(models.BPE(unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    special = ["[UNK]", "[PAD]", "[CLS]"]
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(
        vocab_size=320, special_tokens=special, initial_alphabet=alphabet, show_progress=False
    )
    tokenizer.train_from_iterator(TEXTS, trainer)
    return tokenizer


def large_strings(texts):
    return pa.array(texts, pa.large_string())


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """Path of a tokenizer, and its tokens of each text without special tokens, truncation and padding."""
    tokenizer = trained()
    expected = [tokenizer.encode(text, add_special_tokens=False).tokens for text in TEXTS]
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A", special_tokens=[("[CLS]", tokenizer.token_to_id("[CLS]"))]
    )
    tokenizer.enable_truncation(8)
    tokenizer.enable_padding(pad_id=1, pad_token="[PAD]", length=12)
    path = str(tmp_path_factory.mktemp("tokenizer") / "tokenizer.json")
    tokenizer.save(path)
    return path, expected


def test_tokens_have_no_special_tokens_truncation_or_padding(tokens_of, saved):
    path, expected = saved
    shard = make_tokenizer(path, lowercase=False).tokenize(large_strings(TEXTS))
    assert tokens_of(shard) == expected
    assert len(expected[3]) > 300
    assert expected[1] == []


def test_batches_do_not_change_the_tokens(tokens_of, saved, monkeypatch):
    path, expected = saved
    monkeypatch.setattr(huggingface, "BATCH_CHARACTERS", 30)
    tokenizer = make_tokenizer(path, lowercase=False)
    assert tokens_of(tokenizer.tokenize(large_strings(TEXTS * 3))) == expected * 3
    assert tokens_of(tokenizer.tokenize(large_strings(TEXTS).slice(1, 2))) == expected[1:3]
    assert tokens_of(tokenizer.tokenize(large_strings([]))) == []


def test_token_ids_may_have_gaps(tokens_of, tmp_path):
    tokenizer = Tokenizer(models.WordLevel({"[UNK]": 2, "a": 0, "b": 5}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.save(str(tmp_path / "gaps.json"))
    shard = make_tokenizer(str(tmp_path / "gaps.json"), lowercase=False).tokenize(large_strings(["a b c b", "b"]))
    assert tokens_of(shard) == [["a", "b", "[UNK]", "b"], ["b"]]
    assert count_shard(shard, ContextWindow(1)).words.to_pylist() == ["[UNK]", "a", "b"]


def test_missing_file_raises(tmp_path):
    with pytest.raises(BitcipherError, match=r"There is no file .*nowhere\.json"):
        make_tokenizer(str(tmp_path / "nowhere.json"), lowercase=False)


@pytest.mark.parametrize(
    "content", [b"", b"{}", b"no json", b"\xff\xfe", b'{"version": "1.0", "model": {"type": "None"}}']
)
def test_file_that_is_not_a_tokenizer_raises(tmp_path, content):
    path = tmp_path / "tokenizer.json"
    path.write_bytes(content)
    with pytest.raises(BitcipherError, match=r"tokenizer\.json is not a Hugging Face tokenizer\.json: "):
        make_tokenizer(str(path), lowercase=False)


@pytest.mark.parametrize("number", [100_000, 1 << 31, (1 << 32) - 1])
def test_very_high_ids_raise(tmp_path, number):
    content = json.loads(Tokenizer(models.WordLevel({"a": 0, "b": 1}, unk_token="a")).to_str())
    content["model"]["vocab"]["b"] = number
    path = tmp_path / "tokenizer.json"
    path.write_text(json.dumps(content))
    with pytest.raises(BitcipherError, match=f"has 2 tokens, but their highest id is {number:,}"):
        make_tokenizer(str(path), lowercase=False)


def test_gaps_between_ids_are_allowed(tmp_path, tokens_of):
    path = str(tmp_path / "tokenizer.json")
    tokenizer = Tokenizer(models.WordLevel({"a": 0, "b": 60_000}, unk_token="a"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.save(path)
    assert tokens_of(make_tokenizer(path, lowercase=False).tokenize(large_strings(["a b"]))) == [["a", "b"]]

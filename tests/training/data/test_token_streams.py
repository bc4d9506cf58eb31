import shutil

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bitcipher.errors import BitcipherError
from bitcipher.files import json_files
from training.data import token_streams
from training.data.token_shards import finish_dataset, write_shard
from training.data.token_streams import Sequences, TokenDataset

DOCUMENTS = [
    ["the cat", "", "a line\u2028separator", "sat"],
    [],  # a shard without documents
    ["\u0627\u0644\u0643\u062a\u0627\u0628"],
    ["</s> is text", "on the mat", "b" * 40, "the dog", "did not"],
]


@pytest.fixture(scope="module")
def folder(tokenizer, tmp_path_factory):
    folder = tmp_path_factory.mktemp("text")
    notes = [write_shard(str(folder), str(name), texts, tokenizer, 0.2) for name, texts in enumerate(DOCUMENTS)]
    finish_dataset(str(folder), notes, tokenizer)
    return folder


@pytest.fixture(scope="module")
def text(folder):
    return TokenDataset.open(str(folder))


@pytest.fixture(scope="module", params=["train", "validation"])
def part(request):
    return request.param


def joined(folder, part):
    """Return all tokens of a split, and the ends of its documents."""
    tokens = [np.fromfile(folder / f"{part}-{name}.tokens", "<u2") for name in range(len(DOCUMENTS))]
    whole = np.concatenate(tokens).astype(np.int64)
    return whole, np.flatnonzero(whole == 2) + 1


def test_stream_concatenates_shards(folder, text, part):
    stream = getattr(text, part)
    whole, ends = joined(folder, part)
    assert len(stream) == len(whole)
    np.testing.assert_array_equal(stream.read(np.array([0]), len(whole))[0], whole)
    np.testing.assert_array_equal(stream.ends, ends)
    assert stream.ends.dtype == np.int64
    assert stream.n_documents == len(ends) > 0


def test_splits_contain_all_documents(text):
    assert text.train.n_documents + text.validation.n_documents == 9


@given(data=st.data())
def test_read_returns_slices_of_stream(folder, text, data):
    whole, _ = joined(folder, "train")
    length = data.draw(st.integers(0, len(whole)))
    starts = data.draw(st.lists(st.integers(0, len(whole) - length), max_size=5))
    rows = text.train.read(np.array(starts, np.int64), length)
    assert rows.shape == (len(starts), length)
    assert rows.dtype == np.int64
    for row, start in zip(rows, starts, strict=True):
        np.testing.assert_array_equal(row, whole[start : start + length])


def test_more_shards_than_mapped_limit(folder, monkeypatch):
    monkeypatch.setattr(token_streams, "MAX_MAPPED_SHARDS", 1)
    stream = TokenDataset.open(str(folder)).train
    whole, _ = joined(folder, "train")
    for _ in range(2):
        np.testing.assert_array_equal(stream.read(np.array([0, 1]), len(whole) - 1), [whole[:-1], whole[1:]])


@pytest.mark.parametrize(("start", "length"), [(-1, 2), (0, 10_000), (10_000, 0)])
def test_read_outside_stream_raises(text, start, length):
    with pytest.raises(IndexError, match="not within"):
        text.train.read(np.array([start]), length)


@pytest.mark.parametrize("length", [1, 7, 16])
def test_sequences_partition_stream(folder, text, length):
    whole, _ = joined(folder, "train")
    sequences = Sequences(text.train, length)
    expected = whole[: len(whole) // length * length].reshape(-1, length)
    assert len(sequences) == len(expected)
    numbers = np.arange(len(expected))[::-1]
    np.testing.assert_array_equal(sequences.take(numbers), expected[numbers])
    with pytest.raises(IndexError):
        sequences.take(np.array([len(expected)]))


def test_stream_shorter_than_sequence_raises(text):
    with pytest.raises(BitcipherError, match="fewer than one sequence of 5000"):
        Sequences(text.train, 5000)


def test_empty_split_is_empty_stream(tokenizer, tmp_path):
    finish_dataset(str(tmp_path), [write_shard(str(tmp_path), "0", ["a"], tokenizer, 0.0)], tokenizer)
    stream = TokenDataset.open(str(tmp_path)).validation
    assert (len(stream), stream.n_documents, stream.ends.tolist()) == (0, 0, [])


def test_dataset_has_its_tokenizer(text, tokenizer):
    assert text.tokenizer.to_str() == tokenizer.to_str()


@pytest.fixture
def copy(folder, tmp_path):
    return shutil.copytree(folder, tmp_path / "copy")


def open_error(folder):
    """Return the message of the error that opening a folder raises."""
    with pytest.raises(BitcipherError) as error:
        TokenDataset.open(str(folder))
    assert "\n" not in str(error.value)
    return str(error.value)


@pytest.mark.parametrize("name", ["train-3.tokens", "train-3.ends", "validation-0.ends"])
def test_missing_file_raises(copy, name):
    (copy / name).unlink()
    assert f"{name} is missing" in open_error(copy)


@pytest.mark.parametrize("name", ["train-3.tokens", "train-3.ends"])
def test_truncated_file_raises(copy, name):
    content = (copy / name).read_bytes()
    (copy / name).write_bytes(content[:-1])
    assert f"{name} has {len(content) - 1} bytes instead of {len(content)}" in open_error(copy)


def test_incomplete_folder_raises(copy):
    (copy / "text.json").unlink()
    assert "no text.json" in open_error(copy)


def test_changed_tokenizer_raises(copy):
    (copy / "tokenizer.json").write_text((copy / "tokenizer.json").read_text() + "\n")
    assert "tokenizer.json is missing or not the tokenizer" in open_error(copy)
    (copy / "tokenizer.json").unlink()
    assert "tokenizer.json is missing" in open_error(copy)


@pytest.mark.parametrize(
    ("change", "fact"),
    [
        ({"format": "bitcipher-text/9"}, "`format` must be bitcipher-text/2"),
        ({"dtype": "float32"}, "`dtype`"),
        ({"train": [{"name": "0"}]}, "`train.0.tokens` is missing"),
        ({"validation": 3}, "`validation`"),
    ],
)
def test_damaged_metadata_raises(copy, change, fact):
    content = json_files.read(str(copy / "text.json"))
    json_files.write(str(copy / "text.json"), {**content, **change})
    message = open_error(copy)
    assert "text.json" in message
    assert fact in message


@pytest.mark.parametrize(("ending", "value"), [("tokens", 60_000), ("ends", 0), ("ends", 2**40)])
def test_damaged_file_of_the_right_size_is_named(folder, tmp_path, ending, value):
    copy = shutil.copytree(folder, tmp_path / "copy")
    path = copy / f"train-3.{ending}"
    content = np.fromfile(path, "<u2" if ending == "tokens" else "<i8")
    content[-1] = value
    content.tofile(path)
    stream = TokenDataset.open(str(copy)).train
    with pytest.raises(BitcipherError, match=f"{path} is damaged, because it"):
        stream.read(np.array([0]), len(stream)) if ending == "tokens" else stream.ends


@pytest.mark.parametrize("name", ["train-3.tokens", "validation-0.ends"])
def test_flipped_bit_of_tokens_is_found(copy, name):
    dataset = TokenDataset.open(str(copy))
    dataset.check_tokens()
    content = bytearray((copy / name).read_bytes())
    content[len(content) // 2] ^= 1
    (copy / name).write_bytes(content)
    with pytest.raises(BitcipherError, match=f"{name} is damaged"):
        TokenDataset.open(str(copy)).check_tokens()

import json
import shutil

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bitcipher.errors import BitcipherError
from training.data import Sequences, TokenText, finish_text, token_streams, write_shard

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
    finish_text(str(folder), notes, tokenizer)
    return folder


@pytest.fixture(scope="module")
def text(folder):
    return TokenText.open(str(folder))


@pytest.fixture(scope="module", params=["train", "validation"])
def part(request):
    return request.param


def joined(folder, part):
    """All tokens of a part, and where its documents end."""
    tokens = [np.fromfile(folder / f"{part}-{name}.tokens", "<u2") for name in range(len(DOCUMENTS))]
    whole = np.concatenate(tokens).astype(np.int64)
    return whole, np.flatnonzero(whole == 2) + 1


def test_a_stream_is_its_shards_one_after_the_other(folder, text, part):
    stream = getattr(text, part)
    whole, ends = joined(folder, part)
    assert len(stream) == len(whole)
    np.testing.assert_array_equal(stream.read(np.array([0]), len(whole))[0], whole)
    np.testing.assert_array_equal(stream.ends, ends)
    assert stream.ends.dtype == np.int64
    assert stream.documents == len(ends) > 0


def test_both_parts_hold_all_documents(text):
    assert text.train.documents + text.validation.documents == 9


@given(data=st.data())
def test_runs_from_anywhere_are_those_of_the_whole(folder, text, data):
    whole, _ = joined(folder, "train")
    length = data.draw(st.integers(0, len(whole)))
    starts = data.draw(st.lists(st.integers(0, len(whole) - length), max_size=5))
    rows = text.train.read(np.array(starts, np.int64), length)
    assert rows.shape == (len(starts), length)
    assert rows.dtype == np.int64
    for row, start in zip(rows, starts, strict=True):
        np.testing.assert_array_equal(row, whole[start : start + length])


def test_more_shards_than_may_be_open_are_read_all_the_same(folder, monkeypatch):
    monkeypatch.setattr(token_streams, "MAPPED_SHARDS", 1)
    stream = TokenText.open(str(folder)).train
    whole, _ = joined(folder, "train")
    for _ in range(2):
        np.testing.assert_array_equal(stream.read(np.array([0, 1]), len(whole) - 1), [whole[:-1], whole[1:]])


@pytest.mark.parametrize(("start", "length"), [(-1, 2), (0, 10_000), (10_000, 0)])
def test_no_run_goes_beyond_the_stream(text, start, length):
    with pytest.raises(IndexError, match="lie within"):
        text.train.read(np.array([start]), length)


@pytest.mark.parametrize("length", [1, 7, 16])
def test_sequences_are_the_stream_cut_up(folder, text, length):
    whole, _ = joined(folder, "train")
    sequences = Sequences(text.train, length)
    expected = whole[: len(whole) // length * length].reshape(-1, length)
    assert len(sequences) == len(expected)
    numbers = np.arange(len(expected))[::-1]
    np.testing.assert_array_equal(sequences.take(numbers), expected[numbers])
    with pytest.raises(IndexError):
        sequences.take(np.array([len(expected)]))


def test_a_text_shorter_than_a_sequence_is_told(text):
    with pytest.raises(BitcipherError, match=r"has \d+ tokens, fewer than one sequence of 5000: give more text"):
        Sequences(text.train, 5000)


def test_a_part_without_documents_is_an_empty_stream(tokenizer, tmp_path):
    finish_text(str(tmp_path), [write_shard(str(tmp_path), "0", ["a"], tokenizer, 0.0)], tokenizer)
    stream = TokenText.open(str(tmp_path)).validation
    assert (len(stream), stream.documents, stream.ends.tolist()) == (0, 0, [])


def test_the_tokenizer_comes_with_the_text(text, tokenizer):
    assert text.tokenizer.to_str() == tokenizer.to_str()


@pytest.fixture
def copy(folder, tmp_path):
    return shutil.copytree(folder, tmp_path / "copy")


def refused(folder):
    """What is said of a folder that cannot be opened: one sentence, with a colon at most before what to do."""
    with pytest.raises(BitcipherError) as error:
        TokenText.open(str(folder))
    assert "\n" not in str(error.value)
    return str(error.value)


@pytest.mark.parametrize("name", ["train-3.tokens", "train-3.ends", "validation-0.ends"])
def test_a_missing_file_is_told(copy, name):
    (copy / name).unlink()
    assert f"{name} is missing" in refused(copy)


@pytest.mark.parametrize("name", ["train-3.tokens", "train-3.ends"])
def test_a_file_that_was_cut_is_told(copy, name):
    content = (copy / name).read_bytes()
    (copy / name).write_bytes(content[:-1])
    assert f"{name} has {len(content) - 1} bytes in place of {len(content)}" in refused(copy)


def test_a_folder_that_was_not_finished_is_told(copy):
    (copy / "text.json").unlink()
    assert "no text.json" in refused(copy)


def test_another_tokenizer_is_told(copy):
    (copy / "tokenizer.json").write_text((copy / "tokenizer.json").read_text() + "\n")
    assert "tokenizer.json is missing or not the one of these tokens" in refused(copy)
    (copy / "tokenizer.json").unlink()
    assert "tokenizer.json is missing" in refused(copy)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"format": "bitcipher-text/9"}, "has the format 'bitcipher-text/9', not 'bitcipher-text/1'"),
        ({"dtype": "float32"}, "text.json is damaged"),
        ({"dtype": []}, "text.json is damaged"),
        ({"train": [{"name": "0"}]}, "text.json is damaged"),
        ({"validation": 3}, "text.json is damaged"),
        ({"validation": [3]}, "text.json is damaged"),
    ],
)
def test_a_damaged_table_of_contents_is_told(copy, change, told):
    content = json.loads((copy / "text.json").read_text())
    (copy / "text.json").write_text(json.dumps({**content, **change}))
    assert told in refused(copy)


def test_a_folder_elsewhere_is_told():
    with pytest.raises(BitcipherError, match=r"is not on this machine's disks, .*: copy it there"):
        TokenText.open("memory://text")

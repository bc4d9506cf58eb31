import hashlib
import json

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer, models, pre_tokenizers

from bitcipher.errors import BitcipherError
from training.data import token_shards
from training.data.held_out import read_held_out, write_held_out
from training.data.token_shards import finish_dataset, write_shard
from training.data.token_streams import TokenDataset
from training.data.tokenizer_files import plain_text_tokenizer

SPLITS = ("train", "validation")
ODD = [
    "line\u2028sep\u2029arated\u0085 text",
    "\u0627\u0644\u0643\u062a\u0627\u0628 \u0639\u0644\u0649",
    "</s>",
    "a <mask></s><pad> b",
    "\u0000",
    "\U0001f600",
]
valid_text = st.text(st.characters(exclude_categories=["Cs"]), max_size=30)
same_folder = settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])


def read(folder, part, name="0", dtype="<u2"):
    """Return the documents of a split as lists of ids, read as README.md describes the format."""
    tokens = np.fromfile(folder / f"{part}-{name}.tokens", dtype)
    ends = np.fromfile(folder / f"{part}-{name}.ends", "<i8")
    assert len(tokens) == (ends[-1] if len(ends) else 0)
    return [row.tolist() for row in np.split(tokens, ends)[:-1]]


def contents(folder):
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


@same_folder
@given(documents=st.lists(st.one_of(valid_text, st.sampled_from([*ODD, ""])), max_size=20))
def test_documents_are_stored_with_end_token(tokenizer, tmp_path, documents):
    note = write_shard(str(tmp_path), "0", iter(documents), tokenizer, 0.0)
    expected = [text.encode() for text in documents if text]
    rows = read(tmp_path, "train")
    assert [row[-1] for row in rows] == [2] * len(expected)
    assert all(min(row[:-1]) >= 5 for row in rows)  # special tokens are never in the text
    assert [tokenizer.decode(row[:-1]).encode() for row in rows] == expected
    assert note.train.documents == len(expected)
    assert note.train.tokens == sum(map(len, rows))
    assert read(tmp_path, "validation") == []


def test_shard_info_describes_files(tokenizer, tmp_path):
    note = write_shard(str(tmp_path), "0", [*ODD, *map(str, range(100))], tokenizer, 0.3)
    for part in SPLITS:
        info = getattr(note, part)
        assert info.documents == len(read(tmp_path, part)) > 0
        for ending, digest in (("tokens", info.tokens_sha256), ("ends", info.ends_sha256)):
            assert digest == hashlib.sha256((tmp_path / f"{part}-0.{ending}").read_bytes()).hexdigest()


@same_folder
@given(
    documents=st.lists(valid_text, max_size=15),
    characters=st.integers(1, 60),
)
def test_batch_size_does_not_change_bytes(tokenizer, tmp_path_factory, documents, characters):
    whole, small = tmp_path_factory.mktemp("whole"), tmp_path_factory.mktemp("small")
    note = write_shard(str(whole), "0", documents, tokenizer, 0.4)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(token_shards, "BATCH_CHARACTERS", characters)
        assert write_shard(str(small), "0", documents, tokenizer, 0.4) == note
    assert contents(whole) == contents(small)


def test_split_depends_on_document_only(tokenizer, tmp_path):
    documents = [f"document {number}" for number in range(400)]
    write_shard(str(tmp_path), "0", documents, tokenizer, 0.25)
    write_shard(
        str(tmp_path), "1", [*(f"document {number}" for number in range(399, -1, -3)), "others"], tokenizer, 0.25
    )
    parts = [{part: {tuple(row) for row in read(tmp_path, part, name)} for part in SPLITS} for name in "01"]
    for part, other in (SPLITS, SPLITS[::-1]):
        assert parts[1][part]
        assert not parts[1][part] & parts[0][other]
    assert 70 < len(parts[0]["validation"]) < 130  # 100 expected, standard deviation 8.7
    encoder = plain_text_tokenizer(tokenizer)
    in_order = [tuple(encoder.encode(text).ids) + (2,) for text in documents]
    assert [tuple(row) for row in read(tmp_path, "validation")] == [
        row for row in in_order if row in parts[0]["validation"]
    ]


def test_larger_fraction_extends_validation_split():
    texts = [str(number) for number in range(300)]
    small, large = ({text for text in texts if token_shards.is_validation(text, share)} for share in (0.1, 0.5))
    assert small < large
    assert all(token_shards.is_validation(text, 1.0) for text in texts)


@pytest.mark.parametrize("share", [-0.1, 1.5, float("nan")])
def test_invalid_validation_fraction_raises(tokenizer, tmp_path, share):
    with pytest.raises(BitcipherError, match="validation_fraction"):
        write_shard(str(tmp_path), "0", ["a"], tokenizer, share)


@pytest.mark.long
@pytest.mark.parametrize(("size", "name", "dtype"), [(65_535, "uint16", "<u2"), (65_536, "uint32", "<u4")])
def test_large_vocabularies_use_four_bytes(tmp_path, size, name, dtype):
    words = {"</s>": 0, **{f"w{number}": number for number in range(1, size)}}
    tokenizer = Tokenizer(models.WordLevel(words, unk_token="</s>"))
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    tokenizer.add_special_tokens(["</s>"])
    note = write_shard(str(tmp_path), "0", [f"w{size - 1} w1"], tokenizer, 0.0)
    finish_dataset(str(tmp_path), [note], tokenizer)
    assert read(tmp_path, "train", dtype=dtype) == [[size - 1, 1, 0]]
    assert json.loads((tmp_path / "text.json").read_text())["dtype"] == name


def test_failed_document_leaves_no_shard(tokenizer, tmp_path):
    def documents():
        yield "whole"
        raise OSError("the disk is gone")

    with pytest.raises((OSError, BitcipherError)):
        write_shard(str(tmp_path), "0", documents(), tokenizer, 0.5)
    assert contents(tmp_path) == {}


def test_surrogate_in_document_raises(tokenizer, tmp_path):
    with pytest.raises(BitcipherError, match="shard 0 is not valid Unicode"):
        write_shard(str(tmp_path), "0", ["good", "bad \ud800"], tokenizer, 0.5)
    assert contents(tmp_path) == {}


def test_order_of_shards_does_not_change_metadata(tokenizer, tmp_path):
    notes = [write_shard(str(tmp_path), name, ["a", "b", "c"], tokenizer, 0.0) for name in ("b", "a", "c")]
    finish_dataset(str(tmp_path), notes, tokenizer)
    first = contents(tmp_path)
    finish_dataset(str(tmp_path), reversed(notes), tokenizer)
    assert contents(tmp_path) == first
    content = json.loads(first["text.json"])
    assert [shard["name"] for shard in content["train"]] == ["a", "b", "c"]
    assert content["tokenizer_sha256"] == hashlib.sha256(first["tokenizer.json"]).hexdigest()


def test_duplicate_shard_names_raise(tokenizer, tmp_path):
    note = write_shard(str(tmp_path), "0", ["a"], tokenizer, 0.0)
    with pytest.raises(ValueError, match="same name"):
        finish_dataset(str(tmp_path), [note, note], tokenizer)


@pytest.mark.parametrize(("documents", "held_back"), [([], 0), (["", ""], 0), (["a", "b"], 2)])
def test_dataset_without_training_documents_raises(tokenizer, tmp_path, documents, held_back):
    note = write_shard(str(tmp_path), "0", documents, tokenizer, 1.0)
    with pytest.raises(BitcipherError, match=f"no documents, and its validation split has {held_back};"):
        finish_dataset(str(tmp_path), [note], tokenizer)
    assert not (tmp_path / "text.json").exists()


def test_shards_in_object_store(tokenizer):
    note = write_shard("memory://text-of-a-test", "0", ["a"], tokenizer, 0.0)
    assert (note.train.documents, note.train.tokens) == (1, 2)
    finish_dataset("memory://text-of-a-test", [note], tokenizer)


def test_held_out_documents_are_left_out_and_counted(tokenizer, tmp_path):
    write_held_out(str(tmp_path), ["b", "c", "z", "b"])
    held_out = read_held_out(str(tmp_path))
    assert held_out.tolist() == sorted(set(held_out.tolist()))
    assert len(held_out) == 3
    note = write_shard(str(tmp_path), "0", ["a", "b", "c", "b", "d"], tokenizer, 0.0, held_out)
    assert note.held_out_documents == 3
    assert [tokenizer.decode(row[:-1]) for row in read(tmp_path, "train")] == ["a", "d"]
    finish_dataset(str(tmp_path), [note], tokenizer, held_out_sources=2)
    metadata = token_shards.DatasetMetadata.read(str(tmp_path / "text.json"))
    assert (metadata.held_out_sources, metadata.held_out_documents) == (2, 3)
    TokenDataset.open(str(tmp_path)).check_tokens()
    (tmp_path / "held-out.digests").write_bytes(bytes(24))
    with pytest.raises(BitcipherError, match=r"held-out.digests is damaged"):
        TokenDataset.open(str(tmp_path)).check_tokens()


def test_text_that_is_all_held_out_raises(tokenizer, tmp_path):
    write_held_out(str(tmp_path), ["a"])
    note = write_shard(str(tmp_path), "0", ["a"], tokenizer, 0.0, read_held_out(str(tmp_path)))
    with pytest.raises(BitcipherError, match="1 documents are left out because they are held out"):
        finish_dataset(str(tmp_path), [note], tokenizer)

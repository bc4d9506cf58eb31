"""Prepared pairs: splits, pairs that are left out, cache keys, and vectors of their tokens."""

import json
import re

import numpy as np
import pytest
from tiny_pairs import recipe_of, tiny_pairs, write_tsv
from tiny_prepared import content_of

from bitcipher.errors import BitcipherError
from bitcipher.vectors.cipher_vectors import CipherVectors
from pipelines.runtime.in_process import InProcessRuntime
from pipelines.runtime.progress import StageProgress
from pipelines.tokenizers.tokenizer_json import vocab_size
from training.data.pair_folder import TRAIN, VALIDATION, read_pairs_metadata, read_stored_pairs
from training.data.token_streams import TokenDataset
from training.runs.prepare.examples import check_sources, prepare_examples
from training.runs.prepare.vectors import prepare_vectors
from training.runs.verify.run_checks import verify_training


class KeptSentences(StageProgress):
    """Progress that keeps its sentences."""

    def __init__(self):
        super().__init__()
        self.sentences = []

    def say(self, sentence):
        self.sentences.append(sentence)


def prepared(recipe, folder):
    progress = KeptSentences()
    return prepare_examples(recipe, str(folder), InProcessRuntime(), progress), progress.sentences


def decoded(stream, tokenizer):
    sides = np.split(stream.read(np.array([0]), len(stream))[0], stream.ends)[:-1]
    texts = [tokenizer.decode(side.tolist()) for side in sides]
    return list(zip(texts[::2], texts[1::2], strict=True))


def test_token_shards_have_the_pairs_of_the_texts(tmp_path):
    folder, sentences = prepared(recipe_of(write_tsv(tmp_path / "a.tsv", tiny_pairs())), tmp_path / "prepared")
    text = TokenDataset.open(folder)
    train, validation = (read_stored_pairs(folder, name) for name in (TRAIN, VALIDATION))
    assert decoded(text.train, text.tokenizer) == train
    assert decoded(text.validation, text.tokenizer) == validation
    assert sorted(train + validation) == sorted(tiny_pairs())
    assert 20 < len(validation) < 60
    assert sentences == []


def test_pairs_of_one_source_are_in_one_split(tmp_path):
    pairs = [(source, f"{target} {number}") for number in range(3) for source, target in tiny_pairs()]
    folder, _ = prepared(recipe_of(write_tsv(tmp_path / "a.tsv", pairs)), tmp_path / "prepared")
    train, validation = (read_stored_pairs(folder, name) for name in (TRAIN, VALIDATION))
    assert len(train) + len(validation) == len(pairs)
    assert not {pair.source for pair in train} & {pair.source for pair in validation}


def test_validation_pairs_are_left_out_of_training(tmp_path):
    pairs = tiny_pairs()
    train = write_tsv(tmp_path / "train.tsv", [*pairs[:140], pairs[0]])
    test = write_tsv(tmp_path / "test.tsv", [*pairs[130:], pairs[0], (pairs[1][0], "andere")])
    recipe = recipe_of(train, text={"validation_sources": [str(test)]})
    folder, sentences = prepared(recipe, tmp_path / "prepared")
    assert read_stored_pairs(folder, TRAIN) == pairs[1:130]
    assert read_stored_pairs(folder, VALIDATION) == [*pairs[130:], pairs[0], (pairs[1][0], "andere")]
    metadata = read_pairs_metadata(folder)
    assert (metadata.left_out, metadata.shared_sources) == (12, 1)
    assert sentences == [
        "Training pairs that are also validation pairs, and are left out: 12.",
        "Validation pairs whose source has another target in training: 1.",
    ]


def test_long_pairs_are_told(tmp_path):
    long = [(f"{source} " * 9, target) for source, target in tiny_pairs()[:30]]
    folder, sentences = prepared(recipe_of(write_tsv(tmp_path / "a.tsv", [*tiny_pairs(), *long])), tmp_path / "made")
    found = [re.fullmatch(r"Of (\d+) (\w+) pairs, (\d+) have a side of more than 16 tokens .*", s) for s in sentences]
    assert [each[2] for each in found] == ["training", "validation"]
    # Nine times two words are too long, and nine times one word are not.
    assert [sum(int(each[group]) for each in found) for group in (1, 3)] == [len(tiny_pairs()) + 30, 25]
    short = recipe_of(tmp_path / "a.tsv", model={"max_position_embeddings": 1})
    with pytest.raises(BitcipherError, match="no pair of texts with at most 1 tokens"):
        prepared(short, tmp_path / "made")
    assert [path.name for path in (tmp_path / "made").iterdir()] == [folder.rpartition("/")[2]]


def test_pairs_are_prepared_once_for_each_content(tmp_path):
    lines = [json.dumps({"en": source, "de": target}) for source, target in tiny_pairs()]
    (tmp_path / "a.jsonl").write_text("\n".join(lines))
    columns = {"source_column": "en", "target_column": "de"}
    recipe = recipe_of(tmp_path / "a.jsonl", objective=columns)
    first, _ = prepared(recipe, tmp_path / "one")
    (tmp_path / "a.jsonl").rename(tmp_path / "b.jsonl")
    renamed = recipe_of(tmp_path / "b.jsonl", objective=columns)
    assert prepared(renamed, tmp_path / "one")[0] == first
    other, _ = prepared(renamed, tmp_path / "two")
    assert content_of(tmp_path / "two") == content_of(tmp_path / "one")
    assert other.rpartition("/")[2] == first.rpartition("/")[2]
    backwards = recipe_of(tmp_path / "b.jsonl", objective={"source_column": "de", "target_column": "en"})
    assert prepared(backwards, tmp_path / "one")[0] != first


def test_vectors_count_both_sides(tmp_path):
    recipe = recipe_of(
        write_tsv(tmp_path / "a.tsv", tiny_pairs()),
        embeddings={"init": "cipher", "build": {"mode": "sum", "bits": 8, "window": 2}},
    )
    folder, _ = prepared(recipe, tmp_path / "prepared")
    vectors = prepare_vectors(recipe, folder, str(tmp_path / "prepared"), InProcessRuntime(), StageProgress())
    table = CipherVectors.load(vectors)
    tokenizer = TokenDataset.open(folder).tokenizer
    used = {token for pair in read_stored_pairs(folder, TRAIN) for side in pair for token in tokenizer.encode(side).ids}
    assert {tokenizer.id_to_token(token) for token in used} == set(table.index_to_key) - {"<oov>"}
    assert len(used) < vocab_size(tokenizer)


@pytest.mark.parametrize(
    ("train", "test", "text", "fact"),
    [
        ([], [("a", "b")], {}, r"`text\.sources` have no pairs"),
        ([("a", "b")], [], {}, "The validation split has no pairs of texts, and the training split 1"),
        ([("a", "b")], [("a", "b")], {}, r"All 1 pairs of `text\.sources` are validation pairs"),
        ([("a", "b"), ("a", "c")], None, {"validation_fraction": 1e-9}, "The validation split has no pairs"),
        ([("a", "b"), ("c", "\u200b")], [("a", "c")], {}, "gives no tokens for"),
    ],
)
def test_splits_without_pairs_are_refused(tmp_path, train, test, text, fact):
    if test is not None:
        text = {"validation_sources": [str(write_tsv(tmp_path / "test.tsv", test))]}
    text |= {"tokenizer": {"kind": "wordpiece", "vocab_size": 30}}
    recipe = recipe_of(write_tsv(tmp_path / "train.tsv", train), text=text)
    with pytest.raises(BitcipherError, match=fact):
        prepared(recipe, tmp_path / "prepared")
    assert not list((tmp_path / "prepared").glob("pairs-*"))


def test_damaged_texts_are_refused(tmp_path):
    folder, _ = prepared(recipe_of(write_tsv(tmp_path / "a.tsv", tiny_pairs())), tmp_path / "prepared")
    with open(f"{folder}/{TRAIN}", "a") as file:
        file.write("more")
    with pytest.raises(BitcipherError, match=r"train\.jsonl is damaged"):
        read_stored_pairs(folder, TRAIN)
    damage = verify_training(folder, InProcessRuntime(), StageProgress()).damage
    assert ["train.jsonl" in each.sentence for each in damage] == [True]


def test_options_of_other_texts_are_refused(tmp_path):
    with pytest.raises(BitcipherError, match=r"`text\.field` has no effect on pairs of texts"):
        recipe_of(tmp_path / "a.tsv", text={"field": "en"})
    with pytest.raises(BitcipherError, match=r"Cannot use .*a\.tsv"):
        check_sources(recipe_of(tmp_path / "a.tsv"))
    assert check_sources(recipe_of(write_tsv(tmp_path / "a.tsv", tiny_pairs()))) == {}

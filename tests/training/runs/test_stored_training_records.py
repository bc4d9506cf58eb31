"""Records of training that are read back from storage, with random mutations."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mutated_records import assert_mutation_is_read_or_refused

from bitcipher.errors import BitcipherError
from bitcipher.files.file_digests import FolderDigests, digest_bytes
from training.loop.checkpoint_folders import TrainingState
from training.loop.metrics_logger import MetricsLine
from training.loop.trackers.base import TrackerIds
from training.runs.recipe import Recipe
from training.runs.run_files import PretrainingConfig
from training.search.trial_runs import TrialEnd
from training.studies.bit_cipher.cells import StoredCell
from training.studies.downscaling.sweep.budget import Speed
from training.studies.downscaling.sweep.options import Study
from training.studies.downscaling.sweep.study import FittedStudy
from training.studies.downscaling.tokenizer_selection.choose_tokenizer import StoredChoice

SCORES = {"validation_accuracy": 0.5, "accuracy": 0.5, "weighted_f1": 0.25, "span_f1": None}
CELL = {
    "stages": {"vectors": 1, "probe": 1},
    "source": {"words": "ab", "counts": "cd"},
    "model": {"mode": "cat", "bits": 25, "window": 4},
    "embedding": {"mode": "cat", "bits": 25},
    "task": {"name": "pos", "sha256": "ef"},
    "seeds": [0],
    "probe": {"hidden": 256, "dropout": 0.5},
    "dimensions": 200,
    "result": {
        "task": "pos",
        "seeds": [{"seed": 0, "epoch": 3, **SCORES}],
        "covered_words": 0.75,
        "covered_tokens": 1.0,
    },
}
CHOICE = {
    "format": "bitcipher-tokenizer-choice/1",
    "chosen": {"kind": "bpe", "size": 300},
    "tokenizer_sha256": "ab",
    "nearest": {"bpe": 300},
    "examples": {"requested": 50, "drawn": 40, "words": 4000},
    "words_of_an_example": 110,
    "reference_words": {"cooking": ["cook", "ing"]},
    "reference_sub_tokens": 2,
    "references": {"bpe": {"uri": "roberta.json", "sha256": "cd"}},
    "rows": [
        {"kind": "bpe", "size": 300, "split_ratio": 1.5, "matching_score": 0.5, "tokens": 299},
        {"kind": "bpe", "size": None, "split_ratio": 1.25, "matching_score": 0.5, "tokens": 500},
    ],
    "inputs": {"version": 1, "sources": [["ab", "text"]], "reading": {}, "lowercase": False},
}
SPEED = Speed(flops_per_second=1e9, step_seconds=0.01, max_concurrent_trials=2)
RECORDS = [
    StoredCell.parse(CELL),
    StoredChoice.parse(CHOICE),
    TrialEnd(validation_loss=1.5, perplexity=4.5),
    TrialEnd(diverged="The loss is not finite."),
    FittedStudy(scale=0.5, seconds=3600.0, speed=SPEED, study=Study()),
    FittedStudy(scale=None, seconds=None, speed=None, study=Study(sources=("corpus",))),
    PretrainingConfig(recipe=Recipe(), text="text", vectors=None, folder="run"),
    TrainingState(step=4, seconds=1.5),
    TrainingState(step=4, best_step=2, best_validation_loss=1.5, early_stopping_patience_counter=1),
    MetricsLine(step=4),
    TrackerIds(wandb="f3x0a1b2", mlflow="0123456789abcdef"),
    FolderDigests(files={"config.json": digest_bytes(b"{}")}, metrics=digest_bytes(b"")),
]


def test_record_bytes_are_unchanged_by_reading():
    for record, values in ((StoredCell, CELL), (StoredChoice, CHOICE)):
        assert json.dumps(record.parse(values).to_dict()) == json.dumps(values)


@pytest.mark.parametrize("record", RECORDS, ids=lambda record: type(record).__name__)
@given(data=st.data())
@settings(max_examples=100, deadline=None)
def test_mutated_record_is_read_back_equal_or_raises(record, data):
    assert_mutation_is_read_or_refused(record, data)


@pytest.mark.parametrize(
    ("record", "values", "fact"),
    [
        (StoredCell, CELL | {"dimensions": -1}, "`dimensions` must be at least 1"),
        (StoredCell, {name: value for name, value in CELL.items() if name != "result"}, "`result` is missing"),
        (StoredChoice, CHOICE | {"format": "bitcipher-tokenizer-choice/2"}, "`format` must be"),
        (StoredChoice, CHOICE | {"rows": "none"}, "`rows` must be"),
        (Speed, SPEED.to_dict() | {"flops_per_second": 0.0}, "`flops_per_second` must be greater than 0"),
    ],
)
def test_invalid_stored_value_raises(record, values, fact):
    with pytest.raises(BitcipherError, match=fact):
        record.parse(values, "file.json")

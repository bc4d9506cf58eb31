import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from training.tasks.base import IGNORED, Features
from training.tasks.finetuning.examples import TaskExamples, drop_unlabeled_rows, select_rows


def features_of(lengths, width=12, labels=None):
    """Return rows of the given lengths, whose tokens encode row and column."""
    ids = np.zeros((len(lengths), width), np.int32)
    for row, length in enumerate(lengths):
        ids[row, :length] = 100 * row + np.arange(1, length + 1)
    targets = {"labels": np.arange(len(lengths)) if labels is None else labels}
    return Features({"input_ids": ids, "attention_mask": (ids > 0).astype(np.int8)}, targets, {})


rows = st.lists(st.integers(1, 12), min_size=1, max_size=20)


@given(rows, st.data())
def test_rows_are_cut_to_longest(lengths, data):
    features = features_of(lengths)
    numbers = np.array(data.draw(st.lists(st.integers(0, len(lengths) - 1), min_size=1, max_size=5)))
    batch = select_rows(features, numbers)
    longest = max(lengths[number] for number in numbers)
    assert {values.dtype for values in batch.values()} == {np.dtype(np.int64)}
    assert batch["input_ids"].shape == (len(numbers), longest)
    np.testing.assert_array_equal(batch["input_ids"], features.inputs["input_ids"][numbers, :longest])
    np.testing.assert_array_equal(batch["attention_mask"].sum(axis=1), [lengths[number] for number in numbers])
    np.testing.assert_array_equal(batch["labels"], numbers)


@given(rows, st.integers(0, 5))
def test_epoch_has_every_row_once(lengths, epoch):
    examples = TaskExamples(features_of(lengths), features_of([3, 4]), seed=epoch, batch_size=4)
    positions = np.arange(epoch * len(lengths), (epoch + 1) * len(lengths))
    assert sorted(examples.training_batch(positions)["labels"]) == list(range(len(lengths)))
    assert examples.validation_size == 2
    assert examples.validation_batch(np.array([1]))["input_ids"].tolist() == [[101, 102, 103, 104]]


def test_float_targets_keep_dtype():
    batch = select_rows(features_of([2, 3], labels=np.array([0.5, 4.5], np.float32)), np.array([1]))
    assert batch["labels"].dtype == np.float32


def test_unlabeled_rows_are_dropped():
    labels = np.full((3, 12), IGNORED)
    labels[[0, 2], 1] = 1
    kept = drop_unlabeled_rows(features_of([3, 4, 5], labels=labels))
    assert len(kept) == 2
    assert kept.inputs["input_ids"][:, 0].tolist() == [1, 201]
    assert kept.targets["labels"][:, 1].tolist() == [1, 1]

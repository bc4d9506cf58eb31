"""Order and padding of the training pairs of a run."""

import numpy as np
import pytest
from tiny_pairs import recipe_of, tiny_pairs, write_tsv

from pipelines.runtime.in_process import InProcessRuntime
from pipelines.runtime.progress import StageProgress
from training.data.token_streams import TokenDataset
from training.runs.prepare.examples import prepare_examples
from training.runs.pretraining_run import make_examples


@pytest.fixture(scope="module")
def examples(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pairs")
    recipe = recipe_of(write_tsv(folder / "pairs.tsv", tiny_pairs()))
    text = prepare_examples(recipe, str(folder / "prepared"), InProcessRuntime(), StageProgress())
    return make_examples(recipe, TokenDataset.open(text))


def rows_of(batch):
    """Return each pair of a batch without padding."""
    ends = (batch["labels"] == 2).nonzero()[0] + 1
    targets = np.split(batch["labels"], ends)[:-1]
    sources = [ids[mask == 1] for ids, mask in zip(batch["input_ids"], batch["attention_mask"], strict=True)]
    return [(source.tolist(), target.tolist()) for source, target in zip(sources, targets, strict=True)]


def test_pairs_of_a_batch_have_targets_of_similar_lengths(examples):
    size, total = examples.batch_size, len(examples._train)
    rows = rows_of(examples.training_batch(np.arange(total)))
    sources, targets = examples._train.take(np.arange(total))
    assert sorted(rows) == sorted((s.tolist(), t.tolist()) for s, t in zip(sources, targets, strict=True))
    lengths = np.array([len(target) for _, target in rows[: total // size * size]]).reshape(-1, size)
    assert np.ptp(lengths, axis=1).mean() < 0.2 * np.ptp(lengths)


def test_pairs_depend_on_their_position_only(examples):
    positions = np.arange(5 * 50 * examples.batch_size)[:: 50 * 7]  # in several groups and epochs
    together = rows_of(examples.training_batch(positions))
    assert [rows_of(examples.training_batch(positions[n : n + 1]))[0] for n in range(len(positions))] == together
    assert rows_of(examples.training_batch(np.arange(200))) != rows_of(examples.training_batch(np.arange(200, 400)))


def test_validation_pairs_are_held_out(examples):
    every = rows_of(examples.validation_batch(np.arange(examples.validation_size)))
    size = len(examples._train)
    trained = rows_of(examples.training_batch(np.arange(-(-size // 800) * 800)))
    assert len({repr(row) for row in every}) == examples.validation_size
    assert not {repr(row) for row in every} & {repr(row) for row in trained}
    assert examples.validation_size + size == len(tiny_pairs())
    assert examples.tokens_per_example >= examples.input_length + 2

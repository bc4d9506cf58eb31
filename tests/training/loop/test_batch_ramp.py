"""Batches that grow: sizes, positions, exact resume, and equal results of one and two workers."""

import multiprocessing
from dataclasses import dataclass

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from safetensors.torch import load_file
from tiny_runs import config_of, curve_of

from bitcipher.errors import BitcipherError
from training.loop.checkpoint_folders import latest_checkpoint
from training.loop.distributed import World
from training.loop.options import LoopOptions
from training.loop.step import iter_steps
from training.runs.pretraining_run import run_pretraining
from training.tasks.finetuning.options import FinetuneOptions

pytestmark = pytest.mark.usefixtures("one_thread")

RAMP = {"batch_size": 12, "initial_batch_size": 4, "batch_ramp_steps": 6, "micro_batch_size": 2}


@given(st.integers(1, 5), st.integers(1, 7), st.integers(1, 30), st.integers(0, 40))
def test_batches_grow_by_the_initial_size_until_the_end_of_the_ramp(initial, factor, ramp, steps):
    loop = LoopOptions(
        max_steps=50, batch_size=initial * factor, initial_batch_size=initial, batch_ramp_steps=float(ramp)
    )
    sizes = [loop.batch_size_at(step) for step in range(50)]
    assert loop.count_sequences(steps) == sum(sizes[:steps])
    assert sizes[0] == initial
    assert sizes == sorted(sizes)
    assert all(size % initial == 0 for size in sizes)
    assert set(sizes[ramp:]) == {initial * factor}
    # The plain definition: after a fraction of the ramp, the same fraction of the increments.
    assert sizes[:ramp] == [initial * (1 + (factor - 1) * step // ramp) for step in range(ramp)]


def test_batch_is_constant_by_default():
    loop = LoopOptions(batch_size=6)
    assert {loop.batch_size_at(step) for step in range(20)} == {6}
    assert loop.count_sequences(20) == 120


@dataclass
class Positions:
    """Examples whose only array is their positions."""

    def training_batch(self, positions):
        return {"positions": positions}


class Targets:
    def count_targets(self, batch):
        return len(batch["positions"])


@pytest.mark.parametrize("n_workers", [1, 2])
def test_steps_read_all_positions_in_order(n_workers):
    loop = LoopOptions(max_steps=12, **RAMP)
    worlds = [World(rank, n_workers, torch.device("cpu")) for rank in range(n_workers)]
    steps = zip(*(iter_steps(Positions(), Targets(), loop, world, 0) for world in worlds), strict=True)
    read = [[batch["positions"] for data in step for batch in data.batches] for step in steps]
    assert [sum(map(len, batches)) for batches in read] == [loop.batch_size_at(step) for step in range(12)]
    positions = np.concatenate([batch for batches in read for batch in batches])
    np.testing.assert_array_equal(positions, np.arange(loop.count_sequences(12)))
    resumed = next(iter(iter_steps(Positions(), Targets(), loop, worlds[0], 5)))
    assert resumed.batches[0]["positions"][0] == loop.count_sequences(5)


@pytest.fixture(scope="module")
def straight(tiny_text, tmp_path_factory):
    """Return the folder of an uninterrupted run."""
    folder = tmp_path_factory.mktemp("ramps") / "straight"
    run_pretraining(config_of(folder, tiny_text, loop=RAMP))
    return folder


def weights_of(folder):
    return (latest_checkpoint(folder) / "model.safetensors").read_bytes()


def test_metrics_count_the_tokens_of_growing_batches(straight):
    loop = LoopOptions(max_steps=12, **RAMP)
    assert [line["tokens"] for line in curve_of(straight)] == [
        loop.count_sequences(line["step"]) * 17 for line in curve_of(straight)
    ]
    losses = [line["validation_loss"] for line in curve_of(straight) if "validation_loss" in line]
    assert losses[-1] < losses[0] - 0.05


@pytest.mark.parametrize("last", [2, 5, 9])
def test_resume_in_and_after_the_ramp_is_exact(straight, tiny_text, tmp_path, last):
    config = config_of(tmp_path, tiny_text, loop=RAMP)

    def interrupt(step, note):
        if step > last:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_pretraining(config, interrupt)
    run_pretraining(config)
    assert curve_of(tmp_path) == curve_of(straight)
    assert weights_of(tmp_path) == weights_of(straight)


def train_as_worker(rank, config, store):
    torch.set_num_threads(1)
    torch.distributed.init_process_group("gloo", init_method=f"file://{store}", rank=rank, world_size=2)
    run_pretraining(config)


def test_two_workers_give_the_results_of_one(straight, tiny_text, tmp_path):
    config = config_of(tmp_path / "run", tiny_text, loop=RAMP)
    context = multiprocessing.get_context("fork")
    workers = [context.Process(target=train_as_worker, args=(rank, config, tmp_path / "store")) for rank in (0, 1)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(120)
    assert [worker.exitcode for worker in workers] == [0, 0]
    for one, other in zip(curve_of(straight), curve_of(tmp_path / "run"), strict=True):
        assert one == pytest.approx(other, rel=1e-4)
    first, second = (load_file(latest_checkpoint(run) / "model.safetensors") for run in (straight, tmp_path / "run"))
    assert all(torch.allclose(first[name], second[name], atol=1e-4) for name in first)


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"initial_batch_size": 5}, "`loop.batch_size` must be a multiple of `loop.initial_batch_size`, got 12 and 5"),
        ({"micro_batch_size": 3}, "`loop.initial_batch_size` must be a multiple of `loop.micro_batch_size`"),
        ({"batch_ramp_steps": 13}, "`loop.batch_ramp_steps` is 13 steps, more than the 12 steps of `loop.max_steps`"),
    ],
)
def test_invalid_ramp_raises(changes, sentence):
    with pytest.raises(BitcipherError, match=sentence):
        LoopOptions(max_steps=12, **(RAMP | changes))


def test_workers_that_cannot_split_the_initial_batch_raise():
    with pytest.raises(BitcipherError, match="3 workers cannot split a batch of 4 sequences"):
        LoopOptions(max_steps=12, **RAMP).micro_batch_size_for(3)


def test_epochs_of_growing_batches_raise():
    with pytest.raises(BitcipherError, match=r"needs `loop.max_steps`"):
        FinetuneOptions(model="m", task="cola", data="d", loop=LoopOptions(**RAMP))

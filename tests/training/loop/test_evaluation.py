import math
from dataclasses import replace
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest
import torch
from tiny_runs import RECIPE, config_of, curve_of, merged, tiny_documents, write_tiny_text

from training.data.token_shards import finish_dataset, part_name, write_shard
from training.data.token_streams import TokenDataset
from training.data.train_tokenizer import train_tokenizer
from training.loop import evaluation_progress
from training.loop.distributed import World
from training.loop.evaluation import evaluate, evaluation_ids
from training.loop.evaluation_progress import EVALUATING, read_evaluated_fraction
from training.loop.options import LoopOptions
from training.loop.row_moments import interval_of, mean_of, row_moments
from training.objectives.base import TextExamples
from training.runs.pretraining_run import make_training_run, run_pretraining
from training.runs.recipe import Recipe


def test_evaluated_examples_are_a_fixed_sample_of_all():
    ids = evaluation_ids(10_000, 500)
    assert len(set(ids)) == 500
    assert np.histogram(ids, bins=10, range=(0, 10_000))[0].min() > 25
    assert np.array_equal(ids, evaluation_ids(10_000, 500))
    assert set(evaluation_ids(30, 500)) == set(range(30))


@pytest.mark.parametrize(("starts", "steps"), [(True, [0, 2, 3]), (False, [2, 3])])
def test_steps_that_are_evaluated(starts, steps, tiny_text, tmp_path):
    loop = {"max_steps": 3, "eval_steps": 2, "eval_on_start": starts}
    run_pretraining(config_of(tmp_path, tiny_text, loop=loop))
    assert [line["step"] for line in curve_of(tmp_path) if "validation_loss" in line] == steps


def test_long_evaluations_note_their_progress(tiny_text, tmp_path, monkeypatch):
    fractions = []
    monkeypatch.setattr(evaluation_progress, "_INTERVAL", 0.0)
    write = evaluation_progress.json_files.write
    monkeypatch.setattr(
        evaluation_progress.json_files,
        "write",
        lambda uri, values: (write(uri, values), fractions.append(read_evaluated_fraction(str(tmp_path)))),
    )
    run_pretraining(config_of(tmp_path, tiny_text, loop={"max_steps": 1, "eval_sequences": 20, "batch_size": 4}))
    assert [fraction for fraction in fractions if fraction is not None] == [0.2, 0.4, 0.6, 0.8, 1.0] * 2
    assert not (tmp_path / EVALUATING).exists()


class StoredLosses:
    """Objective whose losses are in the batch."""

    metrics = ("validation_loss", "perplexity")

    def row_sums(self, model, batch):
        return dict.fromkeys(self.metrics, batch["sums"])


def evaluated(sums, numbers=None, sources=(), **options):
    """Return the metrics of rows with the given sums and numbers of terms [N, 2]."""
    examples: Any = SimpleNamespace(
        validation_size=len(sums),
        validation_sources=sources,
        validation_batch=lambda ids: {"sums": sums[ids]},
        validation_source_numbers=lambda ids: np.zeros(len(ids), int) if numbers is None else numbers[ids],
    )
    world = World(0, 1, torch.device("cpu"))
    objective: Any = StoredLosses()
    return evaluate(torch.nn.Identity(), objective, examples, LoopOptions(batch_size=7, **options), world)


def random_rows(n_rows: int, seed: int, mean: float = 3.0) -> np.ndarray:
    random = np.random.default_rng(seed)
    counts = random.integers(1, 30, n_rows)
    return np.stack([counts * random.normal(mean, 0.5, n_rows), counts], axis=1)


def test_perplexity_of_all_and_of_each_source():
    sums, numbers = random_rows(100, 0), np.repeat([0, 1, 2], [60, 39, 1])
    metrics = evaluated(sums, numbers, ("a", "b", "c"))
    total, count = sums.sum(0)
    assert metrics["validation_loss"] == pytest.approx(total / count)
    assert metrics["perplexity"] == pytest.approx(math.exp(total / count))
    for number, name in enumerate("abc"):
        total, count = sums[numbers == number].sum(0)
        assert metrics[f"perplexity/{name}"] == pytest.approx(math.exp(total / count))
    assert metrics["perplexity_low/a"] < metrics["perplexity/a"] < metrics["perplexity_high/a"]
    assert "perplexity_low/c" not in metrics  # one row has no interval
    assert evaluated(sums) == pytest.approx({name: metrics[name] for name in metrics if "/" not in name})
    assert "perplexity/b" not in evaluated(sums[:60], numbers[:60], ("a", "b", "c"))  # no row was evaluated


def test_intervals_have_the_mean_of_the_population_in_95_percent():
    population = random_rows(20_000, 1)
    mean = population[:, 0].sum() / population[:, 1].sum()
    random, inside = np.random.default_rng(2), 0
    for _ in range(600):
        rows = population[random.integers(0, len(population), 80)]
        low, high = interval_of(row_moments(torch.from_numpy(rows)).sum(0))
        inside += low < mean < high
    assert 0.91 < inside / 600 < 0.98


def test_moments_without_rows():
    assert math.isnan(mean_of(torch.zeros(6)))
    assert math.isnan(interval_of(torch.zeros(6))[0])


def test_sources_have_several_shards(tmp_path):
    documents = tiny_documents()
    tokenizer = train_tokenizer(documents, "bpe", 300)
    parts = [part_name(source, part) for source, part in (("a", 0), ("a", 1), ("b", 0), ("c", 0), ("c", 1))]
    folder = str(tmp_path)
    finish_dataset(
        folder,
        [write_shard(folder, part, documents[at::5], tokenizer, 0.5) for at, part in enumerate(parts)],
        tokenizer,
    )
    run = make_training_run(Recipe.parse(merged(RECIPE, {}), "test"), TokenDataset.open(folder), None, tmp_path)
    examples: Any = replace(cast(TextExamples, run.examples), source_names={"a": "one", "b": "two", "c": "three"})
    assert examples.validation_sources == ["one", "two", "three"]
    ids = np.arange(examples.validation_size)
    stream = examples.text.validation
    shards = stream.shard_numbers(ids * 17)
    assert examples.validation_source_numbers(ids).tolist() == [[0, 0, 1, 2, 2][number] for number in shards]


def test_metrics_of_a_run_have_its_sources(tmp_path):
    text = write_tiny_text(tmp_path / "text")
    config = config_of(tmp_path / "run", text) | {"sources": {"a": "books.txt", "b": "talk.txt"}}
    run_pretraining(config)
    last = curve_of(tmp_path / "run")[-1]
    assert last["perplexity_low"] < last["perplexity"] < last["perplexity_high"]
    assert last["perplexity/books.txt"] > 0
    recipe = Recipe.parse(merged(RECIPE, {}), "test")
    run = make_training_run(recipe, TokenDataset.open(str(text)), None, tmp_path, config["sources"])
    examples: Any = run.examples
    numbers = examples.validation_source_numbers(np.arange(examples.validation_size))
    stream = examples.text.validation
    # A sequence belongs to the source in which it begins.
    tokens_of_first = sum(np.diff(stream.ends, prepend=0)[: stream._shards[0].info.documents])
    assert numbers.tolist() == [int(number * 17 >= tokens_of_first) for number in range(len(numbers))]

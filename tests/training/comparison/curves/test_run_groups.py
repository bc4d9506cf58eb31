"""Reading of run folders, and grouping of runs by recipe."""

import json

import numpy as np
import pytest
from synthetic_runs import write_run

from bitcipher.errors import BitcipherError
from training.comparison.curves.run_groups import group_runs, read_run

LOSSES = {0: 3.0, 10: 2.0, 20: 1.5}
RANDOM = {"embeddings": {"init": "random"}, "loop": {"max_steps": 20}}
CIPHER = {"loop": {"max_steps": 20}, "embeddings": {"init": "cipher"}}


def test_read_run_returns_evaluations_and_losses(tmp_path):
    run = read_run(write_run(tmp_path / "run", 7, LOSSES, RANDOM, accuracy=50.0, note="a text"))
    assert (run.name, run.seed) == ("run", 7)
    assert set(run.evaluations) == {"step", "tokens", "seconds", "validation_loss", "perplexity", "accuracy"}
    assert run.evaluations["validation_loss"].tolist() == [3.0, 2.0, 1.5]
    assert run.evaluations["tokens"].tolist() == [0, 10_000, 20_000]
    assert run.losses["step"].tolist() == [10, 20]
    np.testing.assert_allclose(run.losses["loss"], [2.1, 1.6])


def test_metric_missing_in_an_evaluation_is_dropped(tmp_path):
    folder = write_run(tmp_path / "run", 1, LOSSES, accuracy=50.0)
    lines = [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]
    del lines[-1]["accuracy"]
    (folder / "metrics.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert "accuracy" not in read_run(folder).evaluations


def test_runs_are_grouped_by_recipe_without_seed(tmp_path):
    order = {"embeddings": {"init": "random"}} | {"loop": {"max_steps": 20}}  # the same recipe, in another order
    runs = [
        read_run(write_run(tmp_path / "cipher-1", 1, LOSSES, CIPHER)),
        read_run(write_run(tmp_path / "random-1", 1, LOSSES, RANDOM)),
        read_run(write_run(tmp_path / "random-2", 2, LOSSES, dict(reversed(order.items())))),
        read_run(write_run(tmp_path / "cipher-2", 2, LOSSES, CIPHER)),
    ]
    groups = group_runs(runs)
    assert [(group.name, [run.seed for run in group.runs]) for group in groups] == [
        ("cipher", [1, 2]),
        ("random", [1, 2]),
    ]


@pytest.mark.parametrize(
    ("names", "name"),
    [
        (("random-seed1", "random-seed2"), "random"),
        (("random_01", "random_02"), "random"),
        (("radius-8-seed-1", "radius-8-seed-2"), "radius-8"),
        (("random 1", "other 2"), "random 1"),
        (("1", "2"), "1"),
    ],
)
def test_group_name_is_run_name_without_seed(tmp_path, names, name):
    runs = [read_run(write_run(tmp_path / each, seed, LOSSES)) for seed, each in enumerate(names, 1)]
    assert [group.name for group in group_runs(runs)] == [name]


def test_two_digit_seeds_are_removed_from_group_name(tmp_path):
    runs = [read_run(write_run(tmp_path / f"cipher-{seed}", seed, LOSSES)) for seed in (10, 11, 12)]
    assert [group.name for group in group_runs(runs)] == ["cipher"]
    assert [group.name for group in group_runs(runs[:1])] == ["cipher-10"]


def test_values_are_cut_to_shortest_run(tmp_path):
    runs = [
        read_run(write_run(tmp_path / "a-1", 1, LOSSES)),
        read_run(write_run(tmp_path / "a-2", 2, {0: 4.0, 10: 3.0})),
    ]
    (group,) = group_runs(runs)
    assert group.values("validation_loss").tolist() == [[3.0, 2.0], [4.0, 3.0]]
    assert group.mean("validation_loss").tolist() == [3.5, 2.5]
    assert group.mean("step").tolist() == [0, 10]


def test_incomplete_last_line_is_ignored(tmp_path):
    folder = write_run(tmp_path / "run", 1, LOSSES)
    whole = (folder / "metrics.jsonl").read_text()
    (folder / "metrics.jsonl").write_text(whole[:-5])
    assert read_run(folder).evaluations["step"].tolist() == [0, 10]


def test_duplicate_names_and_seeds_raise(tmp_path):
    one = read_run(write_run(tmp_path / "a" / "run", 1, LOSSES, RANDOM))
    other = read_run(write_run(tmp_path / "b" / "run", 1, LOSSES, CIPHER))
    with pytest.raises(BitcipherError, match="Two groups of runs would have the name run; rename the folders"):
        group_runs([one, other])
    with pytest.raises(BitcipherError, match="run and run have the same recipe and seed; give only one of them"):
        group_runs([one, one])


def test_invalid_run_folder_raises(tmp_path):
    for path in (tmp_path / "nothing", tmp_path / "synthetic_runs.py" / "x"):
        with pytest.raises(BitcipherError, match="is not a run"):
            read_run(path)
    started = write_run(tmp_path / "started", 1, {})
    with pytest.raises(BitcipherError, match="has no evaluation yet"):
        read_run(started)
    for file, content in (
        ("run.json", "{"),
        ("run.json", "[]"),
        ("run.json", '{"recipe": {}}'),
        ("run.json", '{"recipe": {"seed": "one"}, "text": "t", "vectors": null, "folder": "f"}'),
        ("metrics.jsonl", "{\n"),
        ("metrics.jsonl", '{"loss": 1}\n{"validation_loss": 2}\n'),
        ("metrics.jsonl", '{"step": 0, "validation_loss": 2.0}\n'),
        ("metrics.jsonl", '{"step": -1, "validation_loss": 2.0}\n'),
        ("metrics.jsonl", '{"step": 0, "tokens": 0, "seconds": 1%s, "validation_loss": 2.0}\n' % ("0" * 30)),
    ):
        damaged = write_run(tmp_path / f"damaged-{abs(hash((file, content)))}", 1, LOSSES)
        (damaged / file).write_text(content)
        with pytest.raises(BitcipherError, match=r"is damaged|is missing|must be") as error:
            read_run(damaged)
        assert file in str(error.value)

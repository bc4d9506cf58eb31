"""Tables of groups, against values computed by hand."""

import math

import pytest
from synthetic_runs import write_run

from training.comparison.curves.run_groups import group_runs, read_run
from training.comparison.curves.table import perplexity_table, scores_table, steps_to_loss

RANDOM = [{0: 5.0, 10: 4.0, 20: 3.0}, {0: 5.0, 10: 4.0, 20: 2.0}]
CIPHER = [{0: 5.0, 10: 3.0, 20: 1.0}, {0: 5.0, 10: 2.5, 20: 1.0}]


@pytest.fixture
def groups(tmp_path):
    return group_runs(
        [
            read_run(
                write_run(
                    tmp_path / f"{name}-{seed}", seed, losses, {"embeddings": {"init": name}}, accuracy=10.0 * seed
                )
            )
            for name, runs in (("random", RANDOM), ("cipher", CIPHER))
            for seed, losses in enumerate(runs, 1)
        ]
    )


def spread(first: float, second: float) -> str:
    """Return mean ± standard deviation of the perplexities of two losses; the deviation is their distance / √2."""
    first, second = math.exp(first), math.exp(second)
    digits = 1 if (first + second) / 2 >= 10 else 3
    return f"{(first + second) / 2:.{digits}f} ± {abs(first - second) / math.sqrt(2):.{digits}f}"


def test_perplexities_at_equal_steps_and_seconds(groups):
    table = perplexity_table(groups)
    steps = ("step 2", "step 5", "step 10", "step 15", "step 20")
    seconds = ("0.500 s", "1.000 s", "1.500 s", "2.000 s")
    assert table.header == ("run", "seeds", *steps, *seconds, "steps to random's final loss")
    random, cipher = table.rows
    assert random[:2] == ("random", "2")
    # The evaluations are at steps 0, 10 and 20.
    expected = (f"≈ {spread(4.8, 4.8)}", f"≈ {spread(4.5, 4.5)}", spread(4, 4), f"≈ {spread(3.5, 3)}", spread(3, 2))
    assert random[2:7] == expected
    expected = (f"≈ {spread(4.6, 4.5)}", f"≈ {spread(4, 3.75)}", spread(3, 2.5), f"≈ {spread(2, 1.75)}", spread(1, 1))
    assert cipher[2:7] == expected
    assert table.note.startswith("≈ marks values that were not measured")
    assert table.markdown().endswith(f"{table.note}\n")
    # Ten steps take a second.
    assert random[7:11] == random[3:7]
    assert cipher[7:11] == cipher[3:7]


def test_steps_to_loss_uses_mean_curves(groups):
    random, cipher = groups
    # The mean of random ends at 2.5. The mean of cipher is 5, 2.75, 1: it reaches 2.5 between steps 10 and 20.
    assert steps_to_loss(cipher, 2.5) == pytest.approx(10 + 10 * 0.25 / 1.75)
    assert steps_to_loss(random, 2.5) == 20
    assert steps_to_loss(random, 5.0) == 0
    assert steps_to_loss(random, 2.4) is None
    assert [row[-1] for row in perplexity_table(groups).rows] == ["20 (100 %)", "≈ 11 (57 %)"]
    assert [row[-1] for row in perplexity_table(groups[::-1]).rows] == ["20 (100 %)", "not reached"]


def test_percentage_is_relative_to_steps_of_first_group(tmp_path):
    short = read_run(write_run(tmp_path / "short", 1, {0: 5.0, 10: 3.0}, {"loop": {"max_steps": 10}}))
    long = read_run(write_run(tmp_path / "long", 1, {0: 5.0, 20: 4.0, 40: 3.0}, {"loop": {"max_steps": 40}}))
    table = perplexity_table(group_runs([short, long]))
    assert [row[-1] for row in table.rows] == ["10 (100 %)", "40 (400 %)"]
    assert table.header[2:7] == ("step 1", "step 2", "step 5", "step 8", "step 10")
    # Step 10 is halfway between 5.0 at step 0 and 4.0 at step 20.
    assert table.rows[1][6] == f"≈ {math.exp(4.5):.1f}"


def test_diverged_run_does_not_reach_loss(tmp_path):
    fine = read_run(write_run(tmp_path / "fine", 1, {0: 5.0, 10: 3.0}, {"loop": {"learning_rate": 1.0}}))
    lost = read_run(write_run(tmp_path / "lost", 1, {0: 5.0, 10: 90.0}, {"loop": {"learning_rate": 9.0}}))
    assert perplexity_table(group_runs([fine, lost])).rows[1][-1] == "not reached"


def test_run_with_one_evaluation_has_one_column(tmp_path):
    groups = group_runs([read_run(write_run(tmp_path / "run", 1, {0: 2.0}))])
    table = perplexity_table(groups)
    assert table.header == ("run", "seeds", "step 0", "steps to run's final loss")
    assert table.rows == (("run", "1", "7.389", "0"),)
    assert table.note == ""
    assert scores_table(groups) is None


def test_scores_table_has_further_metrics_of_last_evaluation(groups):
    table = scores_table(groups)
    assert table.header == ("run", "seeds", "accuracy")
    assert table.rows == (("random", "2", "15.0 ± 7.1"), ("cipher", "2", "15.0 ± 7.1"))


def test_perplexity_is_that_of_tokens_if_the_loss_includes_more(tmp_path):
    metrics = {"perplexity": 5.0, "perplexity_low": 4.0, "perplexity_high": 6.0, "perplexity/a.txt": 7.0}
    groups = group_runs([read_run(write_run(tmp_path / "run", 1, {0: 2.0, 10: 3.0}, **metrics))])
    assert perplexity_table(groups).rows[0][2:6] == ("≈ 5.000",) * 4
    assert scores_table(groups).header == ("run", "seeds", "perplexity/a.txt")


def test_names_are_escaped_in_markdown(tmp_path):
    groups = group_runs([read_run(write_run(tmp_path / "a|<b>", 1, {0: 2.0}))])
    lines = perplexity_table(groups).markdown().splitlines()
    assert lines[1] == "| --- | ---: | ---: | ---: |"
    assert lines[2] == "| a&#124;&lt;b&gt; | 1 | 7.389 | 0 |"
    assert {line.count("|") for line in lines} == {5}

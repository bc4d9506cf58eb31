"""Lead over the first group, against values computed by hand."""

import numpy as np
import pytest
from matplotlib.image import imread
from synthetic_runs import TOKENS, falling, write_run

from training.comparison.curves.figure import draw_lead
from training.comparison.curves.html_page import write_page
from training.comparison.curves.lead import lead_curve, lead_table
from training.comparison.curves.run_groups import group_runs, read_run

# The first group loses 1 in ten steps, the other one 1 in five.
SLOW = {0: 9.0, 10: 8.0, 20: 7.0, 30: 6.0}
FAST = {0: 9.0, 5: 8.0, 10: 7.0, 20: 5.5}


@pytest.fixture
def groups(tmp_path):
    slow = write_run(tmp_path / "slow", 1, SLOW)
    fast = write_run(tmp_path / "fast", 1, FAST, {"embeddings": {"init": "cipher"}})
    return group_runs([read_run(slow), read_run(fast)])


def test_lead_is_the_ratio_of_tokens_at_equal_perplexity(groups):
    slow, fast = groups
    tokens, leads = lead_curve(fast, slow)
    # There is no lead at step 0, and none at step 20, whose loss the first group never reaches.
    assert tokens.tolist() == [5 * TOKENS, 10 * TOKENS]
    assert leads == pytest.approx([2, 2])
    assert lead_curve(slow, slow)[1] == pytest.approx([1, 1, 1])
    tokens, leads = lead_curve(slow, fast)
    assert leads == pytest.approx([0.5, 0.5, (10 + 10 / 1.5) / 30])


def test_losses_are_means_over_seeds(tmp_path):
    runs = [
        write_run(tmp_path / f"{name}-{seed}", seed, {0: 9.0, 10: loss, 20: loss - 2}, {"embeddings": {"init": name}})
        for name, losses in (("random", (8.0, 7.0)), ("cipher", (6.0, 6.5)))
        for seed, loss in enumerate(losses, 1)
    ]
    random, cipher = group_runs([read_run(run) for run in runs])
    # Means: 9, 7.5, 5.5 and 9, 6.25, 4.25. The first group reaches 6.25 at step 10 + 10 · 1.25 / 2.
    tokens, leads = lead_curve(cipher, random)
    assert tokens.tolist() == [10 * TOKENS]
    assert leads == pytest.approx([1.625])


def test_table_shows_where_the_first_group_has_not_come(groups):
    table = lead_table(groups)
    assert table.header == ("run", *(f"lead at {tokens:,} tokens" for tokens in (2000, 5000, 10000, 15000, 20000)))
    # Step 15 is halfway between losses 7 and 5.5: the first group reaches 6.25 at step 27.5. At step 20, it would need
    # more than its 30 steps.
    assert table.rows == (("fast", "2.0", "2.0", "2.0", "1.8", "> 1.5"),)
    assert lead_table(groups[:1]) is None


def test_figure_and_page_show_the_lead(tmp_path):
    steps = range(0, 401, 50)
    runs = [
        write_run(tmp_path / name, 1, falling(9, 4, speed, 1, steps), {"loop": {"batch_size": number + 1}})
        for number, (name, speed) in enumerate((("random", 0.005), ("cipher", 0.01)))
    ]
    groups = group_runs([read_run(run) for run in runs])
    for name in ("one.png", "other.png"):
        draw_lead(groups, tmp_path / name)
    assert (tmp_path / "one.png").read_bytes() == (tmp_path / "other.png").read_bytes()
    colors = {tuple(color) for color in (255 * imread(tmp_path / "one.png")[..., :3]).astype(np.int64).reshape(-1, 3)}
    assert {(0, 114, 178), (213, 94, 0)} <= colors  # of both groups
    write_page(groups, tmp_path / "several.html")
    write_page(groups[:1], tmp_path / "single.html")
    assert "lead at" in (tmp_path / "several.html").read_text()
    assert "lead" not in (tmp_path / "single.html").read_text()

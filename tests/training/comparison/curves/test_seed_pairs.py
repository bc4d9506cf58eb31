import math

import numpy as np
import pytest
from synthetic_runs import write_run

from training.comparison.curves.run_groups import group_runs, read_run
from training.comparison.curves.seed_pairs import paired_table


def groups_of(folder, curves):
    """Return groups with the given validation losses by name, seed and step."""
    return group_runs(
        [
            read_run(write_run(folder / f"{name}-{seed}", seed, losses, {"loop": {"batch_size": width}}))
            for width, (name, runs) in enumerate(curves.items(), 8)
            for seed, losses in runs.items()
        ]
    )


def test_ratios_are_of_runs_with_the_same_seed(tmp_path):
    groups = groups_of(
        tmp_path,
        {
            "random": {1: {0: 5.0, 10: 3.0}, 2: {0: 5.0, 10: 4.0}, 3: {0: 5.0, 10: 2.0}, 4: {0: 5.0, 10: 1.0}},
            "cipher": {3: {0: 5.0, 10: 1.4}, 2: {0: 5.0, 10: 3.5}, 1: {0: 5.0, 10: 2.6}, 9: {0: 5.0, 10: 0.1}},
            "single": {1: {0: 5.0, 10: 3.0}},
        },
    )
    table = paired_table(groups)
    assert table is not None
    assert table.header == ("run", "pairs of seeds", "final perplexity / random's", "95 % interval")
    differences = np.array([-0.4, -0.5, -0.6])
    margin = 4.302653 * differences.std(ddof=1) / math.sqrt(3)  # 97.5 % quantile of t with two degrees of freedom
    low, high = math.exp(-0.5 - margin), math.exp(-0.5 + margin)
    assert table.rows == (("cipher", "3", f"{math.exp(-0.5):.3f}", f"{low:.3f} to {high:.3f}"),)


def test_pairs_are_compared_at_the_last_common_step(tmp_path):
    groups = groups_of(
        tmp_path,
        {
            "short": {1: {0: 5.0, 10: 4.0}, 2: {0: 5.0, 10: 4.0}},
            "long": {1: {0: 5.0, 20: 3.0}, 2: {0: 5.0, 20: 3.0}},
        },
    )
    table = paired_table(groups)
    assert table is not None
    assert float(table.rows[0][2]) == pytest.approx(1)


def test_groups_without_pairs_have_no_table(tmp_path):
    groups = groups_of(tmp_path, {"one": {1: {0: 5.0}, 2: {0: 5.0}}, "other": {2: {0: 5.0}, 3: {0: 5.0}}})
    assert paired_table(groups) is None

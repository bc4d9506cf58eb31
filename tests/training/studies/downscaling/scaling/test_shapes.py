import subprocess
import sys
from dataclasses import astuple
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bitcipher.errors import BitcipherError
from training.studies.downscaling.scaling.published import published
from training.studies.downscaling.scaling.shapes import ANCHOR, larger, select_spanning, set_1, set_2, set_3, smallest

EVERYTHING = (*set_1(), *set_2(), *set_3(), *smallest(), *larger())


def test_sets_match_tables():
    rows = [row.shape for row in published().pretrained]
    assert (*set_1(), *smallest()) == tuple(rows)
    assert larger() == tuple(row.shape for row in published().larger[1:])
    assert set_1()[0] == ANCHOR


def test_models_of_set_1_differ_from_anchor_in_one_size():
    for shape in set_1()[1:]:
        assert sum(one != other for one, other in zip(astuple(shape), astuple(ANCHOR), strict=True)) == 1


@settings(max_examples=20)
@given(st.integers(0, 2**64))
def test_set_2_is_within_bounds_of_paper(seed):
    drawn = set_2(seed)
    assert len(set(drawn)) == 16
    assert not set(drawn) & {*set_1(), *set_3()}
    for shape in drawn:
        assert all(size.bit_count() == 1 for size in astuple(shape))
        assert all(size <= most for size, most in zip(astuple(shape), (256, 256, 1024, 8, 8), strict=True))
    assert set_2(seed) == drawn


def test_set_2_is_reproducible():
    assert [shape.name for shape in set_2()[:3]] == ["128-128-512-4-2", "128-256-256-4-8", "32-256-128-8-2"]
    assert set_2(1) != set_2()
    with pytest.raises(BitcipherError, match=r"The seed of set 2 must be at least 0, got -1\."):
        set_2(-1)


def test_set_3_varies_hidden_sizes_and_layers():
    assert len(set(set_3())) == 30
    assert not set(set_3()) & {*set_1(), *smallest(), *larger()}
    for start in range(0, 30, 10):
        around = set_3()[start : start + 10]
        assert len({(shape.embedding, shape.intermediate, shape.heads) for shape in around}) == 1
        assert len({shape.hidden for shape in around[6:]}) == len({shape.layers for shape in around[:6]}) == 1


def test_models_of_main_study_have_fewer_than_20_million_parameters():
    assert all(shape.parameters() < 20e6 for shape in (*set_1(), *set_2(), *set_3(), *smallest()))
    assert all(shape.parameters() > 20e6 for shape in larger())


@given(st.sets(st.sampled_from(EVERYTHING), min_size=2), st.data())
def test_select_spanning_returns_count_with_both_ends(shapes, data):
    count = data.draw(st.integers(2, len(shapes)))
    chosen = select_spanning(shapes, count)
    assert len(set(chosen)) == count
    assert set(chosen) <= shapes
    costs = [shape.flops_published() for shape in chosen]
    assert costs == sorted(costs)
    everything = [shape.flops_published() for shape in shapes]
    assert (costs[0], costs[-1]) == (min(everything), max(everything))
    # The result does not depend on the order of the candidates.
    assert select_spanning(sorted(shapes, key=lambda shape: shape.name), count) == chosen


@given(st.sets(st.sampled_from(EVERYTHING), min_size=3, max_size=8), st.data())
def test_select_spanning_minimizes_distance(shapes, data):
    count = data.draw(st.integers(2, len(shapes)))
    vocabulary = data.draw(st.sampled_from([500, 19_010]))

    def distance(chosen):
        logs = sorted(np.log(shape.flops_published(vocabulary)) for shape in chosen)
        return np.abs(np.array(logs) - np.linspace(low, high, count)).sum()

    costs = [np.log(shape.flops_published(vocabulary)) for shape in shapes]
    low, high = min(costs), max(costs)
    best = min(distance(chosen) for chosen in combinations(shapes, count))
    assert distance(select_spanning(shapes, count, vocabulary)) == pytest.approx(best)


def test_select_spanning_with_invalid_count_raises():
    with pytest.raises(BitcipherError, match=r"`count` must be between 2 and 16, the number of shapes, got 17\."):
        select_spanning([*set_1(), ANCHOR], 17)
    with pytest.raises(BitcipherError, match=r"got 1\."):
        select_spanning(set_1(), 1)


def test_scaling_does_not_import_torch_or_ray():
    script = (
        "import importlib, pkgutil, sys; from training.studies.downscaling import scaling\n"
        "names = [module.name for module in pkgutil.iter_modules(scaling.__path__, scaling.__name__ + '.')]\n"
        "for name in names: importlib.import_module(name)\n"
        "print([name for name in ('torch', 'transformers', 'ray') if name in sys.modules])"
    )
    found = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert found.stdout == "[]\n"

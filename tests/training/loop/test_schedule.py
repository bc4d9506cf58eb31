import math
from itertools import pairwise

import pytest

from training.loop.schedule import SCHEDULES, rate_share


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_the_rate_rises_in_a_straight_line_and_then_does_not(schedule):
    shares = [rate_share(schedule, step, 100, 0.1, 0.2) for step in range(100)]
    assert shares[:10] == pytest.approx([(step + 1) / 11 for step in range(10)])
    assert shares[10] == pytest.approx(1.0)
    assert all(later <= sooner + 1e-12 for sooner, later in pairwise(shares[10:]))


def test_each_schedule_falls_as_its_name_says():
    assert rate_share("cosine", 50, 100, 0, 0.2) == pytest.approx(0.6)
    assert rate_share("cosine", 25, 100, 0, 0.0) == pytest.approx((1 + math.cos(math.pi / 4)) / 2)
    assert rate_share("linear", 25, 100, 0, 0.2) == pytest.approx(0.8)
    assert rate_share("constant", 99, 100, 0, 0.2) == 1.0
    assert rate_share("inverse-square-root", 43, 100, 0.1, 0.2) == pytest.approx(0.5)


def test_a_run_may_be_all_warm_up():
    assert rate_share("cosine", 9, 10, 1.0, 0.0) == pytest.approx(10 / 11)

"""The paired set: its report, its checks of results, and a run of the whole set."""

import json
import subprocess
import sys
from pathlib import Path

import check_ratios
import measure_cases
import numpy as np
import pytest
from check_ratios import report_lines
from paired_cases import CASES, Case
from paired_text import MadeText
from ratios import Ratio

HERE = Path(__file__).parent


def report(ours, stored):
    return report_lines([Ratio("sum", ours, [1.0] * len(ours), "s")], stored, "abc")


def test_only_more_than_a_fifth_is_slower():
    assert report([0.59] * 3, {"sum": 0.5})[-1] == "Nothing is slower by more than a fifth than at commit abc."
    lines = report([0.61] * 3, {"sum": 0.5})
    assert lines == [
        "sum: 0.610 of the CPU time (stored 0.500, +22%)",
        "SLOWER by more than a fifth: sum than at commit abc.",
    ]


def test_one_slow_round_is_no_slowness():
    assert "Nothing is slower" in report([0.5, 0.5, 5.0], {"sum": 0.5})[-1]


def test_new_and_lost_cases_are_named():
    lines = report([0.5], {"lost": 0.5})
    assert lines[0] == "sum: 0.500 of the CPU time (not stored)"
    assert lines[1] == "lost: stored, and not measured"


def test_rounds_alternate_and_are_compared():
    order = []

    def make(number):
        return Case(lambda: order.append("ours"), lambda: order.append("theirs"), lambda ours, theirs: True)

    seconds = measure_cases.measure(make, 2)
    assert [len(each) for each in seconds.values()] == [2, 2]
    assert order == ["theirs", "ours", "ours", "theirs", "theirs", "ours"]

    def wrong_at_last(number):
        return Case(lambda: number, lambda: min(number, 1), lambda ours, theirs: ours == theirs)

    assert measure_cases.measure(wrong_at_last, 1) is not None
    assert measure_cases.measure(wrong_at_last, 2) is None


def test_wrong_result_is_an_error(monkeypatch):
    monkeypatch.setattr(measure_cases, "CASES", {"sum": lambda number: Case(lambda: 1, lambda: 2, int.__eq__)})
    with pytest.raises(SystemExit, match="sum: the results differ"):
        measure_cases.main(1)


def test_text_depends_on_the_seed_alone():
    first, again, other = (MadeText.make(5_000, seed) for seed in (1, 1, 2))
    assert first.documents() == again.documents()
    assert len(set(first.spellings)) == len(first.spellings)
    assert not set(first.spellings) & set(other.spellings)
    assert [len(text.split()) for text in first.documents()] == np.diff(first.ends, prepend=0).tolist()


@pytest.mark.parametrize("name", CASES)
def test_stored_ratios_have_each_case(name):
    assert json.loads(check_ratios.STORED.read_text())["ratios"][name] > 0


@pytest.mark.slow
def test_set_runs():
    process = subprocess.run([sys.executable, HERE / "measure_cases.py", "1"], capture_output=True, text=True)
    assert process.returncode == 0, process.stderr
    measured = json.loads(process.stdout)
    assert set(measured) == set(CASES)
    assert all(side[0] > 0 for sides in measured.values() for side in sides.values())

"""Figures of the report: their contents, and labels without overlaps."""

import io
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.image import imread
from matplotlib.ticker import EngFormatter, LogFormatterSciNotation
from synthetic_findings import begun_study, made_model, whole_study

from training.studies.downscaling.scaling.shapes import ANCHOR
from training.studies.downscaling.sweep.figures import new_figure, plain_formatter, set_log_scale
from training.studies.downscaling.sweep.figures_scores import draw_figures
from training.studies.downscaling.sweep.findings import Findings
from training.studies.downscaling.sweep.laws import fit_laws
from training.studies.downscaling.sweep.measures import Measures
from training.studies.downscaling.sweep.trial_results import at_step


def pictures_of(findings):
    measures = Measures(findings)
    return draw_figures(measures, fit_laws(measures))


def colors_in(png):
    picture = imread(io.BytesIO(png), format="png")
    packed = np.rint(255 * picture[..., :3]).astype(int) @ (65536, 256, 1)
    return {(color >> 16, color >> 8 & 255, color & 255) for color in np.unique(packed).tolist()}


def test_points_and_laws_have_colors():
    compute, tokens, parameters, scores, inits = pictures_of(whole_study())
    green, black, blue, orange = (0, 158, 115), (0, 0, 0), (0, 114, 178), (213, 94, 0)
    assert {green, black} <= colors_in(compute.png)
    for picture in (tokens, parameters):
        assert green in colors_in(picture.png)
        assert not {blue, orange} & colors_in(picture.png)  # only the figure of FLOPs has a break
    assert {blue, orange} <= colors_in(inits.png)
    assert green not in colors_in(inits.png)
    assert len(colors_in(scores.png)) > 100  # of a color scale


def test_checkpoints_are_points_of_figure_4():
    findings = whole_study()
    model = findings.models[0]
    scores = tuple(replace(each, model=f"{model.name}@50") for each in findings.scores if each.model == model.name)
    more = replace(findings, checkpoints=(at_step(model, 50),), scores=(*findings.scores, *scores))
    before, after = pictures_of(findings)[3], pictures_of(more)[3]
    numbers = [int(picture.alt.split()[0]) for picture in (before, after)]
    assert numbers[1] == numbers[0] + 1
    assert "development perplexities" in after.caption
    assert "development" not in before.caption


def test_figure_without_data_has_sentence():
    for picture in pictures_of(begun_study()):
        assert picture.png is None
        assert picture.missing.endswith(".")


def test_points_are_drawn_without_law():
    model = made_model(ANCHOR)
    findings = Findings({}, (), (replace(model, evaluations=model.evaluations[:3]),), (), {})
    compute, *_ = pictures_of(findings)
    assert (0, 158, 115) in colors_in(compute.png)
    assert "No power law yet" in compute.caption
    assert "exponent" not in compute.alt


@settings(max_examples=25)
@given(st.floats(-1, 16), st.floats(0, 6), st.sampled_from(["x", "y"]), st.sampled_from([1, 2]), st.sampled_from("efp"))
def test_tick_labels_exist_and_do_not_overlap(start, decades, side, panels, kind):
    formatter = {
        "e": EngFormatter(sep=" "),
        "f": LogFormatterSciNotation(minor_thresholds=(np.inf,) * 2),
        "p": plain_formatter(),
    }[kind if start < 6 or kind == "f" else "e"]
    figure, axes = new_figure(panels, 7.0 * (1 if panels == 1 else 1.6))
    axis = getattr(axes[0], f"{side}axis")
    set_log_scale(axis, [10**start, 10 ** (start + decades)], formatter)
    FigureCanvasAgg(figure).draw()
    low, high = axis.get_view_interval()
    shown = [label for position, label in zip(axis.get_majorticklocs(), axis.get_majorticklabels(), strict=True)
             if low <= position <= high and label.get_text()]  # fmt: skip
    assert shown
    boxes = [label.get_window_extent() for label in shown]
    edges = sorted((box.x0, box.x1) if side == "x" else (box.y0, box.y1) for box in boxes)
    assert all(right[0] > left[1] for left, right in pairwise(edges))


@pytest.mark.parametrize("value", [0.02, 5.0, 3e15])
def test_axis_of_one_value_has_margins(value):
    _, (panel,) = new_figure()
    set_log_scale(panel.xaxis, [value, value], plain_formatter())
    low, high = panel.get_xlim()
    assert low < value < high

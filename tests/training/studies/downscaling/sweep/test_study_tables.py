"""Numbers in the tables of the report, against plain arithmetic on the findings."""

import math
import re
from dataclasses import replace
from itertools import pairwise
from statistics import mean, stdev

import pytest
from synthetic_findings import ACCOUNTING, SEEDS, STEPS, TASKS, TOKENIZERS, begun_study, made_model, whole_study

from training.studies.downscaling.scaling.published import published
from training.studies.downscaling.scaling.shape import Shape
from training.studies.downscaling.scaling.shapes import ANCHOR, smallest
from training.studies.downscaling.sweep.findings import Findings
from training.studies.downscaling.sweep.measures import Measures
from training.studies.downscaling.sweep.tables import ReportTable, format_scientific, format_significant
from training.studies.downscaling.sweep.tables_inits import all_tables
from training.studies.downscaling.sweep.trial_results import at_step

NONE = "—"


@pytest.fixture(scope="module")
def findings():
    return whole_study()


@pytest.fixture(scope="module")
def tables(findings):
    return dict(zip("123467", all_tables(Measures(findings)), strict=True))


@pytest.fixture(scope="module")
def with_checkpoints(findings):
    """Findings whose smallest model was fine-tuned after 50 and 100 steps, too."""
    model = next(model for model in findings.models if model.shape == smallest()[0])
    earlier = tuple(at_step(model, step) for step in (100, 50))
    scores = tuple(
        replace(score, model=f"{model.name}@{step}", best=score.best - step)
        for step in (50, 100)
        for score in findings.scores
        if score.model == model.name and not score.random_init
    )
    return replace(findings, checkpoints=earlier, scores=(*findings.scores, *scores))


def test_checkpoints_have_their_compute_perplexity_and_scores(findings, with_checkpoints, tables):
    table = all_tables(Measures(with_checkpoints))[3]
    model = next(model for model in findings.models if model.shape == smallest()[0])
    final = glue(findings, model, True)
    for row, step in zip(table.rows, (50, 100, 200), strict=True):
        (evaluation,) = (each for each in model.evaluations if each.step == step)
        flops = evaluation.sequences * model.shape.flops_published(model.vocabulary)
        assert row[2] == str(step)
        assert row[3] == format_significant(flops / 1e15)
        assert close(row[4], math.exp(evaluation.loss))
        assert is_spread(row[7], (final[0] - step * (step < 200), final[1]))
    assert {row[5] for row in table.rows} <= {"yes", "no"}
    # The other tables are those of the last checkpoints.
    assert all_tables(Measures(with_checkpoints))[2] == tables["3"]


def model_of(findings, cell, init="random", language="constrained"):
    shape = Shape(*map(int, cell.strip("()").split(", ")))
    (found,) = [m for m in findings.models if (m.shape, m.init, m.language) == (shape, init, language)]
    return found


def close(cell, value, digits=2):
    return float(cell.replace(",", "")) == pytest.approx(value, abs=0.5000001 * 10**-digits)


def glue(findings, model, filtered, random=False):
    """Return mean and deviation over seeds of the mean over tasks."""
    means = [
        mean(
            score.best
            for score in findings.scores
            if (score.model, score.filtered, score.random_init, score.seed) == (model.name, filtered, random, seed)
        )
        for seed in SEEDS
    ]
    return mean(means), stdev(means)


def is_spread(cell, expected):
    return all(close(part, value) for part, value in zip(cell.split(" ± "), expected, strict=True))


def test_table_1_has_kept_text_of_each_folder_and_rows_of_paper(tables):
    ours = [row for row in tables["1"].rows if row[0] == "ours"]
    expected = []
    for name, counts in [("stories", "/data/stories"), ("<b>letters & | co", "/data/<b>letters & | co"), ("all", None)]:
        output = ACCOUNTING["folders"][counts] if counts else ACCOUNTING["total"]
        for level, kind in (("spans", "span"), ("sentences", "sentence")):
            values = output[level]
            share = f"{100 * values['kept'] / values['examined']:.1f} %"
            whole = (f"{values[key]:,}" for key in ("examined", "kept", "words_kept"))
            examined, kept, words = whole
            expected.append(("ours", name, kind, examined, kept, share, words, NONE))
    assert ours == expected
    theirs = [row for row in tables["1"].rows if row[0] == "paper"]
    assert [row[1] for row in theirs] == [row.corpus for row in published().corpora]
    assert theirs[0][4] == "3,000,000"
    assert theirs[0][7] == "427,000,000"
    assert any("443 to train and 7 to test" in note for note in tables["1"].notes)
    assert any("441 to train and 7 to test, 2 fewer" in note for note in tables["1"].notes)


def test_table_2_has_decrease_of_perplexity_per_billion_flops(findings, tables):
    before, seen = None, set()
    for along, cell, ratio, theirs in tables["2"].rows:
        model = model_of(findings, cell)
        if ratio == NONE:
            assert theirs == NONE
        else:
            differ = [
                size
                for size in ("embedding", "hidden", "intermediate", "layers", "heads")
                if getattr(before.shape, size) != getattr(model.shape, size)
            ]
            assert differ == [along.removesuffix(" size")]
            more = [m.shape.flops_published(m.vocabulary) / 1e9 for m in (before, model)]
            decrease = math.exp(before.test_loss) - math.exp(model.test_loss)
            assert close(ratio, decrease / (more[1] - more[0]), 4 if abs(float(ratio.replace(",", ""))) < 1000 else 0)
            seen.add((along, model.shape))
        before = model
    # All twelve ratios of the paper's Table 2, and one ratio between models of its Table 3.
    printed = {
        (size if size == "layers" else f"{size} size", row.shape): row.ratio
        for size, rows in published().effectiveness.items()
        for row in rows
        if row.ratio is not None
    }
    assert printed.keys() <= seen
    shown = {(along, model_of(findings, cell).shape): theirs for along, cell, _, theirs in tables["2"].rows}
    assert all(shown[step] == f"{ratio:.4f}" for step, ratio in printed.items())
    assert shown["hidden size", Shape(256, 64, 1024, 8, 8)] == "3.0075"
    # Computed from Table 3: perplexities 23.42 and 23.40, at a difference of 3.1 million FLOPs.
    more = smallest()[1].flops_published() - smallest()[2].flops_published()
    assert close(shown["intermediate size", smallest()[1]], (23.42 - 23.40) / (more / 1e9), 4)


def test_table_2_computes_ratio_of_paper_across_omitted_models():
    shapes = [replace(ANCHOR, hidden=hidden) for hidden in (32, 128, 256)]
    table = all_tables(Measures(Findings({}, (), tuple(map(made_model, shapes)), (), {})))[1]
    theirs = [row[3] for row in table.rows]
    perplexities, costs = (10.42, 5.88), [shape.flops_published() / 1e9 for shape in shapes[:2]]
    assert theirs[0] == NONE
    assert close(theirs[1], (perplexities[0] - perplexities[1]) / (costs[1] - costs[0]), 4)
    assert theirs[2] == "0.2411"


def test_table_3_has_size_cost_perplexity_and_scores_with_numbers_of_paper(findings, tables):
    theirs = {row.shape: row for row in published().pretrained}
    rows = tables["3"].rows
    assert len(rows) == 19
    costs = []
    for cell, size, _, flops, _, perplexity, *glues in rows:
        model = model_of(findings, cell)
        number = model.shape.parameters(vocabulary=model.vocabulary) / 1e6
        assert float(size) == pytest.approx(number, rel=0.005)
        cost = STEPS[-1] * 16 * model.shape.flops_published(model.vocabulary)
        costs.append(cost)
        assert (
            flops == format_scientific(cost / 1e15)
            if cost < 1e12
            else float(flops) == pytest.approx(cost / 1e15, rel=5e-3)
        )
        assert close(perplexity, math.exp(model.test_loss))
        _, unfiltered, _, filtered, _, baseline, _, spent, published_spent = glues
        used = STEPS[-1] * 16 * model.shape.flops_spent(0.15 * 126, model.vocabulary)
        assert used < cost
        assert (spent, published_spent) == (format_significant(used / 1e15), NONE)
        assert is_spread(unfiltered, glue(findings, model, False))
        assert is_spread(filtered, glue(findings, model, True))
        assert is_spread(baseline, glue(findings, model, True, random=True))
    assert costs == sorted(costs)
    for cell, *cells in rows:
        row = theirs[model_of(findings, cell).shape]
        assert list(map(float, cells[1:12:2])) == [
            row.parameters, row.flops, row.perplexity, row.glue_unfiltered, row.glue_filtered, row.glue_filtered_random
        ]  # fmt: skip


def test_table_3_has_baselines_on_unfiltered_examples_if_there_are_any(findings, tables):
    assert "GLUE unfiltered, not pre-trained" not in tables["3"].header
    scores = tuple(replace(score, filtered=False) for score in findings.scores if score.filtered)
    table = all_tables(Measures(replace(findings, scores=scores)))[2]
    assert table.header[-2:] == ("GLUE unfiltered, not pre-trained", "paper's")
    for row in table.rows:
        model = model_of(findings, row[0])
        assert is_spread(row[-2], glue(findings, model, True, random=True))
        assert row[-1] == NONE


def test_table_4_compares_unconstrained_with_constrained_model(findings, tables):
    theirs = {row.shape: row for row in published().unconstrained}
    assert len(tables["4"].rows) == 2
    for cell, *cells in tables["4"].rows:
        unconstrained, model = model_of(findings, cell, language="unconstrained"), model_of(findings, cell)

        def more(value, base):
            return 100 * (value - base) / base

        sizes = [each.shape.parameters(vocabulary=each.vocabulary) for each in (unconstrained, model)]
        costs = [each.shape.flops_published(each.vocabulary) for each in (unconstrained, model)]
        expected = [
            (sizes[0] - sizes[1]) / 1e6,
            more(*costs),
            more(math.exp(unconstrained.test_loss), math.exp(model.test_loss)),
            *(more(glue(findings, unconstrained, kind)[0], glue(findings, model, kind)[0]) for kind in (True, False)),
        ]
        assert all(close(ours, value) for ours, value in zip(cells[::2], expected, strict=True))
        row = theirs[model.shape]
        printed = [row.parameters, row.flops, row.perplexity, row.glue_filtered, row.glue_unfiltered]
        assert list(map(float, cells[1:12:2])) == printed


def test_table_6_has_our_tokenizers_and_those_of_paper(tables):
    rows = tables["6"].rows
    assert rows[:3] == (
        ("ours", "bpe", "chosen", "4,000", "1.31", "0.2717"),
        ("ours", "bpe", "", "3,000", "1.36", "0.2900"),
        ("ours", "bpe", "", "reference", "1.32", "0.1547"),
    )
    assert len(TOKENIZERS) == 3
    assert ("paper", "BPE", "chosen", "19,000", "1.32", "0.2604") in rows
    assert len(rows) == 3 + len(published().tokenizers)


def test_inits_table_has_perplexities_steps_and_scores_of_both(findings, tables):
    rows = tables["7"].rows
    assert [model_of(findings, row[0]).shape for row in rows] == [*reversed(smallest()), ANCHOR]
    for cell, size, random_cell, cipher_cell, ratio, reach, *glues in rows:
        random, cipher = (model_of(findings, cell, init) for init in ("random", "cipher"))
        assert float(size) == pytest.approx(random.shape.parameters(vocabulary=random.vocabulary) / 1e6, rel=0.005)
        assert close(random_cell, math.exp(random.test_loss))
        assert close(cipher_cell, math.exp(cipher.test_loss))
        assert close(ratio, math.exp(cipher.test_loss - random.test_loss), 3)
        end = random.evaluations[-1].loss
        before, after = next(pair for pair in pairwise(cipher.evaluations) if pair[1].loss <= end)
        share = (before.loss - end) / (before.loss - after.loss)
        steps = before.step + share * (after.step - before.step)
        assert re.fullmatch(rf"{round(steps)} \({round(100 * steps / STEPS[-1])} %\)", reach)
        for column, (filtered, model) in enumerate((k, m) for k in (True, False) for m in (random, cipher)):
            assert is_spread(glues[column], glue(findings, model, filtered))


def test_missing_tables_have_sentences():
    tables = all_tables(Measures(begun_study()))
    assert [bool(table.rows) for table in tables] == [False, False, True, False, False, False]
    for table in tables:
        if not table.rows:
            assert table.missing.endswith(".")
            assert table.missing in table.markdown()
    (row,) = tables[2].rows
    assert row[:4] == ("(256, 256, 1024, 8, 8)", "8.54", "16.24", "0")
    assert row[5:13:2] == (NONE,) * 4
    assert row[13] == "0"
    assert any("256-256-1024-8-8 has not finished yet" in note for note in tables[2].notes)
    nothing = all_tables(Measures(Findings({}, (), (), (), {})))
    assert not any(table.rows for table in nothing)


def test_stopped_model_is_listed_with_reason():
    stopped = made_model(ANCHOR, test_loss=None, stopped="its loss did not fall.")
    diverged = made_model(smallest()[0], test_loss=math.inf)
    table = all_tables(Measures(Findings({}, (), (stopped, diverged), (), {})))[2]
    assert {row[5] for row in table.rows} == {NONE}
    assert f"{ANCHOR.name} was stopped: its loss did not fall." in table.notes
    assert any("finished with a test loss of inf" in note for note in table.notes)


def test_stopped_fine_tuning_is_listed_and_its_seed_ignored(findings):
    first, *others = findings.scores
    stopped = replace(first, best=None, last=None, stopped="it diverged.")
    of_all, of_others = (
        all_tables(Measures(replace(findings, scores=scores)))[2]
        for scores in ((stopped, *others), [score for score in others if score.seed != first.seed])
    )
    assert f"{first.model} on filtered cola, seed 1, was stopped: it diverged." in of_all.notes
    (row,), (of_other_seeds,) = (
        [row for row in table.rows if model_of(findings, row[0]).name == first.model] for table in (of_all, of_others)
    )
    assert row[9] == of_other_seeds[9]


def test_seed_without_all_tasks_is_ignored(findings):
    first = tuple(score for score in findings.scores if score.seed == 1)
    second = tuple(score for score in findings.scores if score.seed == 2 and score.task == TASKS[0])
    table = all_tables(Measures(replace(findings, scores=first + second)))[2]
    for row in table.rows:
        name = model_of(findings, row[0]).name
        scores = [s.best for s in first if (s.model, s.filtered, s.random_init) == (name, True, False)]
        assert row[9] == f"{mean(scores):.2f}"


def test_markdown_escapes_cells():
    lines = ReportTable("T <b>", ("a", "b"), (("x|y", "1\n2"),), ("note",)).markdown().splitlines()
    assert lines == ["## T &lt;b&gt;", "", "| a | b |", "| --- | ---: |", "| x&#124;y | 1 2 |", "", "note"]


@pytest.mark.parametrize(
    ("value", "written"),
    [(0, "0"), (110.48, "110"), (8.567, "8.57"), (0.0264, "0.0264"), (0.00004567, "4.6 · 10⁻⁵"), (1234.5, "1,234")],
)
def test_format_significant(value, written):
    assert format_significant(value) == written

import pytest
from scipy.stats import t

from training.studies.downscaling.scaling.published import published
from training.studies.downscaling.scaling.shapes import ANCHOR


def test_totals_of_table_1():
    rows = published().corpora
    assert sum(row.sentences for row in rows) == pytest.approx(47.07)
    assert sum(row.tokens for row in rows) == 1125
    assert [row.corpus for row in rows if row.filtered_by == "span"] == ["C4"]


def test_rows_of_table_2_increase_one_size_up_to_anchor():
    for size, rows in published().effectiveness.items():
        assert rows[-1].shape == ANCHOR
        sizes = [getattr(row.shape, size) for row in rows]
        assert sizes == sorted(set(sizes))


def test_table_6_has_reference_of_each_kind():
    references = {row.kind: row for row in published().tokenizers if row.vocabulary is None}
    assert set(references) == {"BPE", "WordPiece", "SentencePiece"}
    # The paper's rule: for each kind the size with the ratio closest to the reference, then the highest matching score.
    closest = {
        kind: min(
            (row for row in published().tokenizers if row.kind == kind and row.vocabulary),
            key=lambda row: abs(row.split_ratio - reference.split_ratio),
        )
        for kind, reference in references.items()
    }
    chosen = max(closest.values(), key=lambda row: row.matching_score)
    assert (chosen.kind, chosen.vocabulary) == ("BPE", 19_000)


def test_three_shapes_of_table_3_do_not_gain_from_pre_training():
    without = [row.shape.name for row in published().pretrained if row.glue_filtered < row.glue_filtered_random]
    assert without == ["32-256-1024-8-8", "64-256-1024-8-8", "32-32-64-1-1"]


def test_printed_p_value_contradicts_sample_size():
    (filtered,) = (found for found in published().correlations if found.glue == "filtered")

    def p_value(count):
        statistic = filtered.coefficient * ((count - 2) / (1 - filtered.coefficient**2)) ** 0.5
        return 2 * t.sf(abs(statistic), count - 2)

    # The paper's footnote names 32 points.
    assert p_value(32) == pytest.approx(2.7e-5, rel=0.02)
    assert p_value(45) < filtered.p_value < p_value(43)


def test_published_fits_have_r_squared_if_known():
    fits = {fit.against: fit for fit in published().fits}
    assert fits["FLOPs above the break"].exponent == -0.1412
    assert fits["FLOPs above the break"].r_squared == 0.9888
    assert fits["parameters"].r_squared is None
    assert published().break_at == 2.2e15

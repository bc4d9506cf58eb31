"""The laws and correlations of the downscaling study, on synthetic evaluations and, where they are, on its own."""

import os

import pytest
from user_folder import write_evaluations

from bitcipher.errors import BitcipherError
from training.studies.downscaling.laws import correlations, exponents, read_evaluations, reproduce_downscaling
from training.studies.downscaling.scaling.law_selection import select_law
from training.studies.downscaling.scaling.power_law import fit_broken
from training.studies.downscaling.scaling.published import published

# Path of the authors' EVAL_RESULTS….csv, which is not redistributed here.
STUDY = os.environ.get("BITCIPHER_DOWNSCALING_EVALUATIONS")
needs_study = pytest.mark.skipif(not STUDY, reason="BITCIPHER_DOWNSCALING_EVALUATIONS has no path")


def test_laws_of_synthetic_evaluations_are_recovered(tmp_path):
    write_evaluations(tmp_path / "evaluations.csv")
    points = read_evaluations(str(tmp_path / "evaluations.csv")).optimal()
    found = exponents(points)
    assert found["FLOPs above the break"][0] == pytest.approx(-0.14, abs=0.003)
    assert found["FLOPs below the break"][0] == pytest.approx(-0.09, abs=0.003)
    assert (points.flops_hoffmann > 0).all()


@pytest.mark.smoke
def test_page_and_figure_are_the_same_each_time(tmp_path):
    write_evaluations(tmp_path / "evaluations.csv")
    page = reproduce_downscaling(str(tmp_path / "evaluations.csv"), str(tmp_path / "a"))
    assert reproduce_downscaling(str(tmp_path / "evaluations.csv"), str(tmp_path / "b")) == page
    for name in ("fits.md", "laws.png"):
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()
    assert "| -0.2805 |" in page
    assert "0.68 (p = 4.7e-05)" in page


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "is not a CSV file that can be read"),
        ("a,b\n1,2\n", "lacks the column 'Total parameters'"),
    ],
)
def test_other_files_are_refused(tmp_path, content, message):
    (tmp_path / "evaluations.csv").write_text(content)
    with pytest.raises(BitcipherError, match=message):
        reproduce_downscaling(str(tmp_path / "evaluations.csv"), str(tmp_path / "out"))
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("value", ["", "-1", "nan", "many"])
def test_invalid_values_are_refused(tmp_path, value):
    write_evaluations(tmp_path / "evaluations.csv")
    lines = (tmp_path / "evaluations.csv").read_text().split("\n")
    lines[3] = value + lines[3].removeprefix("32")
    (tmp_path / "evaluations.csv").write_text("\n".join(lines))
    with pytest.raises(BitcipherError, match=r"evaluations\.csv"):
        read_evaluations(str(tmp_path / "evaluations.csv"))


def test_correlations_over_both_tables_are_close_to_the_papers():
    found = correlations()
    assert found["Tables 3 and 4"]["filtered"][0] == pytest.approx(-0.67, abs=0.02)
    assert found["Table 3"]["filtered"][0] == pytest.approx(-0.40, abs=0.005)
    # The paper's coefficient of unfiltered GLUE, -0.17, does not follow from its tables.
    assert found["Tables 3 and 4"]["unfiltered"][0] == pytest.approx(-0.56, abs=0.01)


@needs_study
def test_exponents_of_the_study_are_the_papers():
    points = read_evaluations(str(STUDY)).optimal()
    found = exponents(points)
    for fit in published().fits:
        exponent, r_squared = found[fit.against]
        assert exponent == pytest.approx(fit.exponent, abs=0.01)
        if fit.r_squared:
            assert r_squared == pytest.approx(fit.r_squared, abs=0.03)
    assert fit_broken(points.flops, points.losses).break_at == pytest.approx(published().break_at, rel=0.2)
    law = select_law(points.flops, points.losses)
    assert law.above.exponent == pytest.approx(-0.1412, abs=0.01)
    assert law.above.offset == 0

"""Files of the report: the self-contained page, figures, tables in Markdown, and findings."""

import base64
import html
import json
import math
import re
from dataclasses import asdict, replace

import pytest
from chromium import PHONE, cut_texts, launched
from html_pages import EVIL, Parsed, assert_whole
from matplotlib.image import imread
from synthetic_findings import EXPONENT, begun_study, made_model, made_scores, whole_study

from bitcipher.files import storage
from training.studies.downscaling.scaling.shapes import ANCHOR, smallest
from training.studies.downscaling.sweep.findings import Findings
from training.studies.downscaling.sweep.page import write_report

FIGURES = ["figure-1.png", "figure-2.png", "figure-3.png", "figure-4.png"]


def read(path):
    """Return the parsed page, after a check that it is complete, and its images."""
    page = Parsed(storage.read_bytes(str(path)).decode())
    images = [dict(image) for image in page.attributes("img")]
    for image in page.attributes("img"):
        assert image.pop("src").startswith("data:image/png;base64,")
    page.texts.setdefault("script", [])
    assert_whole(page)
    return page, images


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    folder = tmp_path_factory.mktemp("study") / "report"
    assert write_report(whole_study(), str(folder)) == str(folder / "report.html")
    return folder


def test_report_has_all_files_and_page_embeds_figures(report):
    names = sorted(path.name for path in report.iterdir())
    assert names == sorted([*FIGURES, "inits.png", "findings.json", "report.html", "tables.md"])
    _, images = read(report / "report.html")
    embedded = [base64.b64decode(image["src"].partition(",")[2]) for image in images]
    assert embedded == [(report / name).read_bytes() for name in (*FIGURES, "inits.png")]
    for image in images:
        assert re.search(r"\d", image["alt"])
        assert image["alt"].endswith(".")
    assert len({image["alt"] for image in images}) == 5
    assert f"exponent {EXPONENT:.4f}" in images[0]["alt"]


def test_page_and_markdown_have_same_cells(report):
    page, _ = read(report / "report.html")
    lines = [line for line in (report / "tables.md").read_text().splitlines() if line.startswith("| ")]
    rows = [line.strip("| ").split(" | ") for line in lines if not line.startswith("| ---")]
    assert len(page.texts["table"]) == 6
    headers = page.texts["th"]
    flat = [html.unescape(re.sub(r"\\(.)", r"\1", cell)).strip() for row in rows for cell in row]
    assert sorted(flat) == sorted(cell.strip() for cell in [*page.texts["td"], *headers])


def test_page_of_finished_study_has_no_missing_parts(report):
    page, _ = read(report / "report.html")
    assert "missing" not in {each.get("class") for each in page.attributes("p")}
    assert any(f"FLOPs to the power of {EXPONENT:.4f}" in text for text in page.texts["p"])
    numbers = dict(zip(page.texts["dt"], page.texts["dd"], strict=False))
    assert numbers["finished models"] == "25 of 25"
    assert numbers["steps"] == "200"
    assert numbers["sequences per step"] == "16"
    assert numbers["seeds of fine-tuning"] == "3"
    assert numbers["pretraining.loop.max_steps"] == "200"


def test_same_findings_in_any_order_give_same_bytes(report, tmp_path):
    findings = whole_study()
    write_report(findings, str(tmp_path / "again"))
    for path in report.iterdir():
        assert (tmp_path / "again" / path.name).read_bytes() == path.read_bytes()
    shuffled = replace(findings, models=findings.models[::-1], scores=findings.scores[::-1])
    write_report(shuffled, str(tmp_path / "shuffled"))
    for name in ("tables.md", "report.html", *FIGURES, "inits.png"):
        assert (tmp_path / "shuffled" / name).read_bytes() == (report / name).read_bytes(), name


def test_findings_json_has_all_findings(report):
    kept = json.loads((report / "findings.json").read_bytes())
    assert kept.pop("format") == "bitcipher-findings/1"
    assert kept == json.loads(json.dumps(asdict(whole_study())))


def test_page_of_unfinished_study_has_sentences_for_missing_parts(tmp_path):
    folder = tmp_path / "report"
    for name in (*FIGURES, "inits.png"):
        storage.create(str(folder / name), b"of an earlier report, with other numbers")
    write_report(begun_study(), str(folder))
    assert sorted(path.name for path in folder.iterdir()) == ["findings.json", "report.html", "tables.md"]
    page, images = read(folder / "report.html")
    assert images == []
    assert sum(each.get("class") == "missing" for each in page.attributes("p")) == 5 + 5
    assert len(page.texts["table"]) == 1


@pytest.mark.parametrize(
    "models",
    [
        [],
        [made_model(ANCHOR)],
        [made_model(ANCHOR, test_loss=None, stopped="it diverged."), made_model(smallest()[0], evaluations=())],
        [made_model(smallest()[0]), made_model(smallest()[0], "cipher", test_loss=None)],
        [made_model(smallest()[0], "cipher"), made_model(ANCHOR, language="unconstrained")],
        [replace(made_model(ANCHOR), test_loss=math.nan)],
    ],
    ids=["none", "one", "stopped", "cipher unfinished", "no random init", "not a number"],
)
def test_page_of_any_partial_study(models, tmp_path):
    write_report(Findings({}, (), tuple(models), made_scores(models), {}), str(tmp_path))
    page, _ = read(tmp_path / "report.html")
    assert "None" not in " ".join(page.texts["td"] if "td" in page.texts else [])
    json.loads((tmp_path / "findings.json").read_text(), parse_constant=pytest.fail)


@pytest.mark.parametrize("evil", EVIL)
def test_names_are_escaped(evil, tmp_path):
    accounting = whole_study().accounting
    name = evil.replace("/", "∕")
    findings = Findings(
        {"total": accounting["total"], "folders": {f"/data/{name}": accounting["total"]}},
        ({"kind": evil, "size": 300, "ratio": 1.0, "esms": 0.5, "chosen": True},),
        (made_model(ANCHOR, name=evil, evaluations=(), test_loss=None, stopped=evil),),
        (),
        {evil: evil, "pretraining": {"max_position_embeddings": 128, evil: [evil]}},
    )
    write_report(findings, str(tmp_path))
    page, _ = read(tmp_path / "report.html")
    assert "script" not in {tag for tag, _ in page.tags}
    assert {name, evil} <= set(page.texts["td"])
    assert f"{evil} was stopped: {evil}" in page.texts["p"]
    assert evil in page.texts["dt"]
    assert evil in page.texts["dd"]
    assert "<script" not in (tmp_path / "tables.md").read_text()
    assert json.loads((tmp_path / "findings.json").read_text())["models"][0]["name"] == evil


def test_report_in_object_store():
    target = write_report(begun_study(), "memory://studies/first")
    assert target == "memory://studies/first/report.html"
    read(target)
    storage.remove("memory://studies")


def test_figures_have_minimum_size(report):
    for name in (*FIGURES, "inits.png"):
        assert min(imread(report / name).shape[:2]) > 500


@pytest.mark.long
def test_tables_and_figures_are_legible_on_a_phone(report):
    with launched() as browser:
        tab = browser.new_page(viewport=PHONE)
        tab.goto((report / "report.html").as_uri())
        assert cut_texts(tab) == []
        # Figures are scrolled, because their text is too small at the width of the screen.
        assert min(figure.bounding_box()["height"] for figure in tab.locator("img").all()) > 300

"""Figures of learning curves, and the self-contained HTML page."""

import base64
import html
import re

import pytest
from chromium import DESKTOP, PHONE, cut_texts, launched
from html_pages import Parsed, assert_whole
from matplotlib.image import imread
from synthetic_runs import falling, write_run

from training.comparison.curves.figure import PARTS, draw_curves
from training.comparison.curves.html_page import write_page
from training.comparison.curves.run_groups import group_runs, read_run

NAMES = ["random", "<b>bold</b> & co", "_under", "$x_1$", "ten|20", "sixth", "seventh", "eighth"]
STEPS = range(0, 401, 50)


def groups_of(folder, names, seeds):
    runs = [
        read_run(
            write_run(
                folder / name / f"{name}-{seed}".replace("/", "∕"),
                seed,
                falling(9, 4, 0.01, seed, STEPS),
                {"loop": {"batch_size": n + 1}},
            )
        )
        for n, name in enumerate(names)
        for seed in range(1, seeds + 1)
    ]
    return group_runs(runs)


@pytest.mark.parametrize(("groups", "seeds"), [(1, 1), (8, 2)])
def test_png_bytes_are_deterministic(tmp_path, groups, seeds):
    made = groups_of(tmp_path, [name.replace("/", "") for name in NAMES[:groups]], seeds)
    for name in ("one.png", "other.png"):
        draw_curves(made, tmp_path / name)
    assert (tmp_path / "one.png").read_bytes() == (tmp_path / "other.png").read_bytes()
    picture = imread(tmp_path / "one.png")
    assert min(picture.shape[:2]) > 700
    colors = {tuple(color) for color in (255 * picture[..., :3]).astype(int).reshape(-1, 3)}
    # Colors of the first and the second group.
    assert (0, 114, 178) in colors
    if groups > 1:
        assert (213, 94, 0) in colors


def test_draw_run_with_one_evaluation(tmp_path):
    draw_curves(group_runs([read_run(write_run(tmp_path / "run", 1, {0: 2.0}))]), tmp_path / "run.png")
    assert (tmp_path / "run.png").stat().st_size > 1000


def test_parts_of_the_loss_have_panels(tmp_path):
    losses = {0: 2.0, 10: 1.0}
    runs = {name: read_run(write_run(tmp_path / name, n, losses, **{name: 0.5})) for n, name in enumerate(PARTS)}
    for name, run in runs.items():
        draw_curves(group_runs([run]), tmp_path / "one.svg")
        drawing = (tmp_path / "one.svg").read_text()
        assert [f"<!-- {label} -->" in drawing for label in PARTS.values()] == [part == name for part in PARTS]
    draw_curves(group_runs(list(runs.values())), tmp_path / "both.svg")  # which have no part in common
    assert not any(label in (tmp_path / "both.svg").read_text() for label in PARTS.values())


def test_page_is_self_contained_and_lists_groups(tmp_path):
    names = [name.replace("/", "") for name in NAMES[:5]]
    groups = groups_of(tmp_path, names, 2)
    for name in ("one.html", "other.html"):
        write_page(groups, tmp_path / name)
    page = (tmp_path / "one.html").read_text()
    assert page == (tmp_path / "other.html").read_text()
    for name in names:
        assert f">{html.escape(name)}</td>" in page
    assert "<b>" not in page
    parsed = Parsed(page)
    images = [image["src"] for image in parsed.attributes("img")]
    assert len(images) == 3  # curves for wide and for narrow screens, and leads
    for image in images:
        page = page.replace(image, "")
        assert image.startswith("data:image/svg+xml;base64,")
        svg = base64.b64decode(image.partition(",")[2]).decode()
        assert svg.count("<svg") == svg.count("</svg>") == 1
        assert not re.search(r"<script|<foreignObject|\bon\w+=", svg)
    assert_whole(Parsed(page.replace('src=""', "")))


@pytest.mark.long
def test_tables_are_legible_on_a_phone(tmp_path):
    write_page(groups_of(tmp_path, ["random-initialization", "cipher-initialization"], 2), tmp_path / "curves.html")
    with launched() as browser:
        tab = browser.new_page(viewport=PHONE)
        tab.goto((tmp_path / "curves.html").as_uri())
        assert cut_texts(tab) == []
        cell = tab.locator("td", has_text="random-initialization").first
        assert cell.evaluate("each => getComputedStyle(each, '::before').content") == '"run"'
        tab.emulate_media(color_scheme="dark")
        color = tab.evaluate("getComputedStyle(document.body).backgroundColor.match(/\\d+/g).map(Number)")
        assert max(color) < 60
        tab.set_viewport_size(DESKTOP)
        assert cell.evaluate("each => getComputedStyle(each, '::before').content") == "none"

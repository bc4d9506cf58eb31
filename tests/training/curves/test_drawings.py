"""Drawings as PNG, and the page, which needs nothing but itself."""

import html
import re

import pytest
from made_runs import falling, write_run
from matplotlib.image import imread

from training.curves import draw, group_runs, read_run, write_page

NAMES = ["random", "<b>bold</b> & co", "_under", "$x_1$", "ten|20", "sixth", "seventh", "eighth"]
STEPS = range(0, 401, 50)


def groups_of(folder, names, seeds):
    runs = [
        read_run(
            write_run(
                folder / name / f"{name}-{seed}".replace("/", "∕"), seed, falling(9, 4, 0.01, seed, STEPS), {"x": n}
            )
        )
        for n, name in enumerate(names)
        for seed in range(1, seeds + 1)
    ]
    return group_runs(runs)


@pytest.mark.parametrize(("groups", "seeds"), [(1, 1), (8, 2)])
def test_a_png_is_drawn_the_same_each_time(tmp_path, groups, seeds):
    made = groups_of(tmp_path, [name.replace("/", "") for name in NAMES[:groups]], seeds)
    for name in ("one.png", "other.png"):
        draw(made, tmp_path / name)
    assert (tmp_path / "one.png").read_bytes() == (tmp_path / "other.png").read_bytes()
    picture = imread(tmp_path / "one.png")
    assert min(picture.shape[:2]) > 700
    colors = {tuple(color) for color in (255 * picture[..., :3]).astype(int).reshape(-1, 3)}
    # The first color is that of the first group, and is there as it is.
    assert (0, 114, 178) in colors
    if groups > 1:
        assert (213, 94, 0) in colors


def test_one_evaluation_without_training_is_drawn(tmp_path):
    draw(group_runs([read_run(write_run(tmp_path / "run", 1, {0: 2.0}))]), tmp_path / "run.png")
    assert (tmp_path / "run.png").stat().st_size > 1000


def test_the_page_is_one_file_that_names_every_group(tmp_path):
    names = [name.replace("/", "") for name in NAMES[:5]]
    groups = groups_of(tmp_path, names, 2)
    for name in ("one.html", "other.html"):
        write_page(groups, tmp_path / name)
    page = (tmp_path / "one.html").read_text()
    assert page == (tmp_path / "other.html").read_text()
    for name in names:
        assert f"<td>{html.escape(name)}</td>" in page
    assert "<b>" not in page
    # Nothing is asked from elsewhere: addresses are names of formats alone, and links stay within the page.
    assert not re.search(r"<(script|link|img|iframe)|@import|url\((?!#)", page)
    assert all(link.startswith("#") for link in re.findall(r'(?:href|src)="([^"]*)"', page))
    assert page.count("<svg") == page.count("</svg>") == 1

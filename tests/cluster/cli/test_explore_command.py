"""Output and errors of `bitcipher explore`."""

import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from html_pages import Parsed

from bitcipher.vectors.cipher_vectors import CipherVectors


def table(size: int, seed: int) -> CipherVectors:
    rows = np.random.default_rng(seed).normal(size=(size, 6))
    return CipherVectors([f"w{number}" for number in range(size)], rows)


@pytest.fixture
def command(monkeypatch, tmp_path, run_command) -> Callable[..., tuple[int, str, str]]:
    monkeypatch.chdir(tmp_path)
    table(40, 1).save("vectors")
    table(50, 2).save("deep/older")
    table(4, 3).save("few")

    return partial(run_command, "explore")


def test_explore_writes_a_page_and_prints_its_size(command):
    assert command("vectors", "--out", "page.html") == (0, "40 of 40 words, 6 dimensions → page.html\n", "")
    (data,) = Parsed(Path("page.html").read_text()).data()
    assert (data["name"], len(data["map"]["words"]), data["before"]) == ("vectors", 40, None)


def test_explore_compares_versions_and_limits_words(command):
    code, out, errors = command("vectors", "--compare", "deep/older", "--words", "20", "--out", "page.html")
    assert (code, errors) == (0, "")
    assert out.startswith("20 of 40 words")
    page = Path("page.html").read_text()
    (data,) = Parsed(page).data()
    assert (len(data["map"]["words"]), data["before"]["name"]) == (20, "older")
    assert data["before"]["removed_words"] == [f"w{number}" for number in range(40, 50)]
    assert str(Path.cwd()) not in page


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (
            ["few", "--out", "page.html"],
            "A map needs at least 5 words",
        ),
        (["nothing", "--out", "page.html"], "There is no build and no folder of vectors nothing"),
        (["vectors", "--compare", "7", "--out", "page.html"], "vectors is not a build"),
        (["vectors", "--out", "few"], "few"),
    ],
)
def test_mistake_prints_one_sentence_and_leaves_no_files(command, arguments, sentence):
    code, out, errors = command(*arguments)
    assert (code, out, errors.count("\n")) == (2, "", 1)
    assert errors.startswith(f"bitcipher: {sentence}")
    assert sorted(path.name for path in Path().iterdir()) == ["deep", "few", "vectors"]


def test_missing_library_is_named(command, monkeypatch):
    monkeypatch.setitem(sys.modules, "openTSNE", None)
    code, _, errors = command("vectors", "--out", "page.html")
    assert code == 2
    assert "opentsne" in errors
    assert "[report]" in errors
    assert errors.count("\n") == 1

"""Report page of the demo: contents, self-containment, and escaping of words."""

from pathlib import Path

import numpy as np
import pytest
from builds import write_manifest
from html_pages import EVIL, Parsed, assert_whole

from bitcipher.vectors.cipher_vectors import CipherVectors
from pipelines.reports.demo.page import write_report

LETTERS = ("one", "two", "three", "four", "five", "six")


@pytest.fixture(scope="module")
def build(tmp_path_factory: pytest.TempPathFactory) -> str:
    target = str(tmp_path_factory.mktemp("build"))
    sizes = {"documents": 1_234, "tokens": 5_678_901, "vocabulary": 4_321, "text_bytes": 23_456_789}
    write_manifest(target, **sizes)
    return target


@pytest.fixture(scope="module")
def tables() -> dict[str, CipherVectors]:
    words = [*EVIL, *LETTERS]
    rows = np.random.default_rng(20).normal(size=(len(words), 8))
    return {"Cat": CipherVectors(words, rows), "Sum <1>": CipherVectors(words[:-1], rows[:-1, :6])}


@pytest.fixture(scope="module")
def page(build: str, tables: dict[str, CipherVectors], tmp_path_factory: pytest.TempPathFactory) -> str:
    target = tmp_path_factory.mktemp("page") / "report.html"
    write_report(str(target), f"Title {EVIL[0]}", f"About {EVIL[1]}", build, tables, [*EVIL, "six"], {"count": 12.34})
    return Path(target).read_text()


def test_the_page_shows_sizes_times_and_neighbors(page, tables):
    parsed = Parsed(page)
    assert parsed.texts["dd"] == ["1,234", "5,678,901", "4,321", "23.5 MB", "8", "6"]
    assert parsed.texts["title"] == [f"Title {EVIL[0]}"]
    assert "12.3 s" in parsed.texts["span"]
    assert parsed.texts["h4"].count("Cat") == len(EVIL) + 1
    assert parsed.texts["h4"].count("Sum <1>") == len(EVIL)  # the table lacks `six`
    nearest = [word for word, _ in tables["Cat"].most_similar(EVIL[0], topn=8)]
    position = parsed.texts["bdi"].index(EVIL[0])
    assert parsed.texts["bdi"][position + 1 : position + 9] == nearest


def test_words_are_escaped(page):
    parsed = Parsed(page)
    assert not {"img", "b", "iframe", "object", "a"} & {tag for tag, _ in parsed.tags}
    assert "alert(1)" not in "".join(parsed.texts["script"])
    assert_whole(parsed)


def test_maps_contain_the_words_of_letters(page):
    cat, other = Parsed(page).data()
    assert cat["words"] == [word for word in [*EVIL, *LETTERS] if word.isalpha()]
    assert other["words"] == cat["words"][:-1]
    assert {word for group in cat["groups"] for word in group["words"]} <= set(cat["words"])


def test_words_from_right_to_left(build, tmp_path):
    words = ["القط", "كتاب", "مدرسة", "2018", "the", "قلب", "في"]
    tables = {"Cat": CipherVectors(words, np.random.default_rng(20).normal(size=(len(words), 8)))}
    for shown, direction in ((["القط", "the", "كتاب"], "rtl"), (["the", "القط"], "ltr")):
        target = tmp_path / f"{direction}.html"
        write_report(str(target), "Title", "About", build, tables, shown, {})
        parsed = Parsed(target.read_text("utf-8"))
        assert [each["dir"] for each in parsed.attributes("div") if each.get("class") == "words"] == [direction]
        assert parsed.data()[0]["direction"] == "rtl"


def test_page_has_labels_for_screen_readers(page):
    parsed = Parsed(page)
    assert parsed.tags[0] == ("html", {"lang": "en"})
    names = {attributes["id"] for _, attributes in parsed.tags if "id" in attributes}
    labeled = {attributes["aria-labelledby"] for _, attributes in parsed.tags if "aria-labelledby" in attributes}
    assert labeled == {"neighbors", "map-1", "map-2"}
    assert labeled <= names
    assert [each["aria-label"].partition(".")[0] for each in parsed.attributes("canvas")] == [
        "Map of 7 frequent words by Cat",
        "Map of 6 frequent words by Sum <1>",
    ]
    assert all(each["tabindex"] == "0" for each in parsed.attributes("canvas"))
    assert {each["data-map"] for each in parsed.attributes("div") if "data-map" in each} <= names


def test_page_without_words_has_maps_only(build, tables, tmp_path):
    write_report(str(tmp_path / "report.html"), "Title", "", build, tables, [], {})
    parsed = Parsed((tmp_path / "report.html").read_text())
    assert [text.strip() for text in parsed.texts["h2"]] == ["Map of words by Cat", "Map of words by Sum <1>"]

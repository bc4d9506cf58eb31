"""The page: what it shows, that it is whole, and that no word becomes a part of it."""

import json
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest

from bitcipher import storage
from bitcipher.vectors import CipherVectors
from bitcipher.versions import manifest_uri
from pipelines import folder
from pipelines.report import write_report
from pipelines.report.figure import figure, legend
from pipelines.report.map import WordMap
from pipelines.report.page import Map, render

EVIL = (
    "</script><script>alert(1)",
    "<img src=x onerror=alert(2)>",
    "' onload='alert(3)",
    '" onload="alert(4)',
    "{{ 7 * 6 }}",
    "<!--<script>",
    "&lt;b&gt;",
    "\u2028",
    "\u202eesrever",
)


class Parsed(HTMLParser):
    """The tags of a page, and the text of each element."""

    def __init__(self, page: str):
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.texts: dict[str, list[str]] = {}
        self._open: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attributes)))
        if tag not in ("meta", "br"):
            self._open.append(tag)
            self.texts.setdefault(tag, []).append("")

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self._open:
            self.texts[self._open[-1]][-1] += data

    def figures(self) -> list[dict]:
        scripts = [attributes for tag, attributes in self.tags if tag == "script"]
        return [
            json.loads(text)
            for attributes, text in zip(scripts, self.texts["script"], strict=True)
            if attributes.get("type") == "application/json"
        ]


@pytest.fixture(scope="module")
def build(tmp_path_factory: pytest.TempPathFactory) -> str:
    target = str(tmp_path_factory.mktemp("build"))
    sizes = {"documents": 1_234, "tokens": 5_678_901, "vocabulary": 4_321, "text_bytes": 23_456_789}
    storage.write_json(manifest_uri(target, 1), {"format": folder.FORMAT, **sizes})
    return target


@pytest.fixture(scope="module")
def tables() -> dict[str, CipherVectors]:
    words = [*EVIL, "one", "two", "three", "four", "five", "six"]
    rows = np.random.default_rng(20).normal(size=(len(words), 8))
    return {"Cat": CipherVectors(words, rows), "Sum <1>": CipherVectors(words[:-1], rows[:-1, :6])}


@pytest.fixture(scope="module")
def page(build: str, tables: dict[str, CipherVectors], tmp_path_factory: pytest.TempPathFactory) -> str:
    target = tmp_path_factory.mktemp("page") / "report.html"
    write_report(str(target), f"Title {EVIL[0]}", f"About {EVIL[1]}", build, tables, [*EVIL, "six"], {"count": 12.34})
    return Path(target).read_text()


def test_the_page_shows_sizes_times_and_neighbours(page, tables):
    parsed = Parsed(page)
    assert parsed.texts["dd"] == ["1,234", "5,678,901", "4,321", "23.5 MB", "8", "6"]
    assert parsed.texts["title"] == [f"Title {EVIL[0]}"]
    assert "12.3 s" in parsed.texts["span"]
    assert parsed.texts["h4"].count("Cat") == len(EVIL) + 1
    assert parsed.texts["h4"].count("Sum <1>") == len(EVIL)  # which lacks `six`
    nearest = [word for word, _ in tables["Cat"].most_similar(EVIL[0], topn=8)]
    place = parsed.texts["bdi"].index(EVIL[0])
    assert parsed.texts["bdi"][place + 1 : place + 9] == nearest


def test_no_word_becomes_a_tag_an_attribute_or_a_script(page):
    parsed = Parsed(page)
    assert [tag for tag, _ in parsed.tags].count("script") == 2 + 2  # a figure for each table, plotly, the page's own
    assert not {"img", "b", "iframe", "object", "a"} & {tag for tag, _ in parsed.tags}
    assert not [name for _, attributes in parsed.tags for name in attributes if name.startswith("on")]
    assert "alert(1)" not in "".join(parsed.texts["script"])


def test_no_word_leaves_the_data_of_a_map():
    word_map = WordMap(list(EVIL), np.zeros((len(EVIL), 2)), np.zeros(len(EVIL), np.int64), None)
    shown = Map(EVIL[3], len(EVIL), legend(word_map), figure(word_map))
    parsed = Parsed(render(title="", about="", numbers={}, tables={}, neighbours={}, maps=[shown], seconds={}))
    assert [tag for tag, _ in parsed.tags].count("script") == 1 + 2
    assert parsed.figures() == [figure(word_map)]
    assert not [name for _, attributes in parsed.tags for name in attributes if name.startswith("on")]


def test_the_page_fetches_nothing(page):
    parsed = Parsed(page)
    assert not [attributes for _, attributes in parsed.tags if attributes.keys() & {"src", "href", "srcset", "action"}]
    (policy,) = [each["content"] for _, each in parsed.tags if each.get("http-equiv") == "Content-Security-Policy"]
    assert policy.startswith("default-src 'none';")
    assert "http" not in policy
    assert any("plotly.js" in text for text in parsed.texts["script"])


def test_readers_of_screens_find_their_way(page):
    parsed = Parsed(page)
    assert ("html", {"lang": "en"}) in parsed.tags
    names = {attributes["id"] for _, attributes in parsed.tags if "id" in attributes}
    labelled = {attributes["aria-labelledby"] for _, attributes in parsed.tags if "aria-labelledby" in attributes}
    assert labelled == {"neighbours", "map-1", "map-2"}
    assert labelled <= names
    maps = [attributes for tag, attributes in parsed.tags if attributes.get("role") == "img"]
    assert [each["aria-label"] for each in maps] == [
        "Map of 6 frequent words by Cat",
        "Map of 5 frequent words by Sum <1>",
    ]
    assert {each["data-figure"] for each in maps} <= names


def test_a_page_without_words_has_maps_alone(build, tables, tmp_path):
    write_report(str(tmp_path / "report.html"), "Title", "", build, tables, [], {})
    parsed = Parsed((tmp_path / "report.html").read_text())
    assert [text.strip() for text in parsed.texts["h2"]] == ["Map of words by Cat", "Map of words by Sum <1>"]

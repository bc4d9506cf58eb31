"""The page of the server in Chromium: search, sums, explanations, unknown words, narrow screens."""

from collections.abc import Iterator

import pytest
from chromium import cut_texts, launched
from playwright.sync_api import BrowserContext, Page, expect
from served_builds import running

from bitcipher import CipherVectors

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def address(served_build: str) -> Iterator[str]:
    with running(served_build) as (_, port):
        yield f"http://127.0.0.1:{port}/"


@pytest.fixture(scope="module")
def context() -> Iterator[BrowserContext]:
    with launched() as browser:
        yield browser.new_context()


@pytest.fixture
def tab(context: BrowserContext, address: str) -> Iterator[Page]:
    """Page of the server, on which neither errors nor requests to other servers may occur."""
    problems = []
    tab = context.new_page()
    # Chromium reports the status 404 of an unknown word as an error.
    tab.on("console", lambda message: problems.append(message.text) if "404" not in message.text else None)
    tab.on("pageerror", lambda error: problems.append(str(error)))
    tab.on("request", lambda each: None if each.url.startswith((address, "data:")) else problems.append(each.url))
    tab.goto(address)
    yield tab
    tab.close()
    assert problems == []


def search(tab: Page, query: str) -> None:
    tab.get_by_role("textbox").fill(query)
    tab.keyboard.press("Enter")
    expect(tab.locator("#name")).to_have_text(query)


def names(tab: Page) -> list[str]:
    return tab.locator("#neighbors a").all_text_contents()


def test_neighbors_of_words_and_of_sums(tab, served_build):
    vectors = CipherVectors.load(served_build)
    expect(tab.locator("#size")).to_have_text(f"Version 1: {len(vectors)} words, 20 dimensions")
    search(tab, "w1")
    expect(tab.locator("#neighbors li")).to_have_count(25)
    assert names(tab) == [word for word, _ in vectors.most_similar("w1", topn=25)]
    tab.locator("#neighbors a").nth(3).click()
    expect(tab.locator("#name")).to_have_text(vectors.most_similar("w1")[3][0])
    search(tab, "w1 - w2 + w4")
    expect(tab.locator("#status")).to_have_text("25 neighbors of w1 - w2 + w4.")
    assert names(tab) == [word for word, _ in vectors.most_similar(["w1", "w4"], ["w2"], topn=25)]


def test_lists_have_the_direction_of_most_words(tab):
    search(tab, "w1")
    expect(tab.locator("#neighbors")).to_have_attribute("dir", "ltr")
    directions = [["القط", "w1", "كتاب", "1"], ["القط", "w1", "w2"], ["«كتاب"], []]
    assert [tab.evaluate("words => directionOf(words)", words) for words in directions] == ["rtl", "ltr", "rtl", "ltr"]


def test_explanation_of_a_neighbor(tab):
    search(tab, "w1")
    tab.get_by_role("button", name="explain").first.click()
    expect(tab.locator("#explanation-facts")).to_contain_text("the sum of these contributions")
    assert tab.locator("#contributions li").count() > 15


def test_unknown_words(tab):
    search(tab, "w12345")
    expect(tab.locator("#facts")).to_have_text("Vectors from the spelling of: w12345.")
    # Words that run from right to left are isolated from the text around them.
    search(tab, "قw12345 - w12345")
    expect(tab.locator("#facts")).to_have_text("Vectors from the spelling of: قw12345, w12345.")
    expect(tab.locator("#facts bdi")).to_have_text(["قw12345", "w12345"])
    assert tab.get_by_role("textbox").evaluate("each => getComputedStyle(each).direction") == "rtl"
    search(tab, "w12345")
    assert tab.get_by_role("button", name="explain").count() == 0
    search(tab, "<b>nosuch</b>")
    expect(tab.locator("#facts")).to_contain_text("'<b>nosuch</b>' is not in the vocabulary")
    assert names(tab) == []


@pytest.mark.parametrize("width", [390, 1280])
def test_page_fits_the_screen(tab, width):
    tab.set_viewport_size({"width": width, "height": 800})
    search(tab, "w1")
    tab.get_by_role("button", name="explain").first.click()
    expect(tab.locator("#explanation-facts")).to_contain_text("the sum of these contributions")
    assert tab.evaluate("document.documentElement.scrollWidth") <= width
    assert cut_texts(tab) == []
    right_edges = tab.locator("#contributions li span:last-child").evaluate_all(
        "values => values.map(each => each.getBoundingClientRect().right)"
    )
    assert len(set(right_edges)) == 1

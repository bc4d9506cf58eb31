"""The explorer page in Chromium without a network: open, search, click, drag and pinch."""

from collections.abc import Iterator, Sequence
from urllib.parse import quote

import numpy as np
import pytest
from builds import write_manifest
from chromium import DESKTOP, PHONE, cut_texts, launched
from html_pages import EVIL
from playwright.sync_api import Browser, BrowserContext, Page, expect

from bitcipher.explain.contributions import Contribution
from bitcipher.vectors.cipher_vectors import CipherVectors
from pipelines.reports.demo.page import write_report
from pipelines.reports.explore.page import Baseline, write_page

pytestmark = pytest.mark.long

NAMES = ["king", "queen", "kingdom", "Oslo", "bergen", "viking", *EVIL, *(f"word{number}" for number in range(300))]
NOWHERE = f"#word={quote('nowhere <b>')}"


def explain(rows: Sequence[int]) -> list[list[Contribution]]:
    return [[Contribution(-2, "queen", 0.75), Contribution(1, EVIL[0], -0.25), Contribution(0, "unlisted", 0.1)]] * len(
        rows
    )


@pytest.fixture(scope="module")
def vectors() -> CipherVectors:
    rows = np.random.default_rng(20).normal(size=(len(NAMES), 12))
    rows[1] = rows[0] + 0.1  # queen is nearest to king
    return CipherVectors(NAMES, rows, counts=np.arange(len(NAMES), 0, -1) * 10)


@pytest.fixture(scope="module")
def full(vectors: CipherVectors, tmp_path_factory: pytest.TempPathFactory) -> str:
    """URL of a page with all features."""
    target = tmp_path_factory.mktemp("full") / "page.html"
    old = [*NAMES[:20], "bygone", *NAMES[30:]]
    rows = np.random.default_rng(21).normal(size=(len(old), 12))
    rows[2] = rows[0] + 0.1  # kingdom was nearest to king
    rows[20] = rows[0] + 0.2  # followed by a word that was removed
    write_page(str(target), "version 2", vectors, 1_000, explain, Baseline("version 1", CipherVectors(old, rows)))
    return target.as_uri()


@pytest.fixture(scope="module")
def minimal(vectors: CipherVectors, tmp_path_factory: pytest.TempPathFactory) -> str:
    """URL of a page of vectors only, without counts or an earlier version."""
    target = tmp_path_factory.mktemp("minimal") / "page.html"
    write_page(str(target), "minimal", CipherVectors(NAMES, vectors.vectors), 1_000)
    return target.as_uri()


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with launched() as browser:
        yield browser


@pytest.fixture
def problems() -> list[str]:
    """Errors, policy violations and requests of the page; the test fails if there are any."""
    return []


@pytest.fixture
def context(browser: Browser, problems: list[str], request: pytest.FixtureRequest) -> Iterator[BrowserContext]:
    settings = {"viewport": DESKTOP, "reduced_motion": "reduce", **getattr(request, "param", {})}
    context = browser.new_context(offline=True, **settings)
    context.on(
        "console", lambda message: problems.append(message.text) if message.type in ("error", "warning") else None
    )
    context.on("weberror", lambda error: problems.append(str(error.error)))
    context.on("dialog", lambda dialog: problems.append(dialog.message))
    context.on("request", lambda each: None if each.url.startswith(("file:", "data:")) else problems.append(each.url))
    yield context
    context.close()
    assert problems == []


@pytest.fixture
def tab(context: BrowserContext) -> Page:
    return context.new_page()


phone = pytest.mark.parametrize("context", [{"viewport": PHONE, "has_touch": True, "is_mobile": True}], indirect=True)
dark = pytest.mark.parametrize("context", [{"color_scheme": "dark"}], indirect=True)


def zoom_of(tab: Page) -> float:
    return tab.evaluate("document.querySelector('canvas').__zoom.k")


def wait_for_zoom(tab: Page, zoom: float) -> None:
    # `wait_for_function` evaluates a string as code in the page, which the Content-Security-Policy forbids.
    for _ in range(100):
        if zoom_of(tab) == pytest.approx(zoom):
            return
        tab.wait_for_timeout(50)
    raise AssertionError(f"The map is zoomed by {zoom_of(tab)}, not by {zoom}.")


def drawing_of(tab: Page) -> str:
    tab.evaluate("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
    return tab.evaluate("document.querySelector('canvas').toDataURL()")


def position_of(tab: Page, word: str) -> tuple[float, float]:
    """Return the window coordinates of a word on a map that was not panned or zoomed."""
    return tuple(
        tab.evaluate(
            """word => {
            const {words, x, y} = readData("data").map, number = words.indexOf(word);
            const box = document.querySelector("canvas").getBoundingClientRect();
            return [box.x + (1 + DOT_SHARE * unpackFractions(x)[number]) / 2 * box.width,
                    box.y + (1 - DOT_SHARE * unpackFractions(y)[number]) / 2 * box.height];
        }""",
            word,
        )
    )


def test_search_selects_a_word_and_click_selects_its_neighbor(tab, full):
    tab.goto(full)
    blank = drawing_of(tab)
    tab.get_by_role("combobox", name="Search a word").fill("kin")
    expect(tab.get_by_role("option")).to_have_text(["king3,170 ×", "kingdom3,150 ×", "viking3,120 ×"])
    tab.get_by_role("option", name="king").first.click()
    expect(tab.locator("#word-name")).to_have_text("king")
    expect(tab.locator("#word-facts")).to_have_text("rank 1 · 3,170 times · rank 1 before")
    assert tab.url.endswith("#word=king")
    assert drawing_of(tab) != blank
    tab.locator("#word-neighbors").get_by_role("link", name="queen").click()
    expect(tab.locator("#word-name")).to_have_text("queen")
    expect(tab.get_by_role("status")).to_contain_text("queen, rank 2")
    tab.go_back()
    expect(tab.locator("#word-name")).to_have_text("king")


def test_arabic_words_are_listed_from_right_to_left(tab, tmp_path):
    words = ["القط", "كتاب", "مدرسة", "the", "قلب", "في", "مُحَمَّد.", *(f"كلمة{number}" for number in range(40))]
    rows = np.random.default_rng(20).normal(size=(len(words), 12))
    rows[1] = rows[0] + 0.1
    vectors = CipherVectors(words, rows, counts=np.arange(len(words), 0, -1) * 10)
    context = [[Contribution(-2, "كتاب", 0.75), Contribution(0, "the", -0.25)]]
    write_page(str(tmp_path / "page.html"), "القط", vectors, 1_000, lambda rows: context * len(rows))
    tab.goto(f"{(tmp_path / 'page.html').as_uri()}#word={quote('القط')}")

    def spread(selector):
        """Return the left edge of the first element of each selector, relative to the list."""
        return [
            tab.locator(f"{selector} {part}").first.bounding_box()["x"] for part in ("bdi", ".bar", "span:last-child")
        ]

    for panel in ("#word-neighbors ol", "#word-contributions ol"):
        name, bar, value = spread(panel)
        assert name > bar > value
    box, filled = (tab.locator(f"#word-neighbors {part}").nth(9).bounding_box() for part in (".bar", ".bar i"))
    assert filled["x"] + filled["width"] == pytest.approx(box["x"] + box["width"], abs=1)
    expect(tab.locator("#word-contributions .offset").first).to_have_text("2 before")
    tab.get_by_role("combobox", name="Search a word").fill("كتا")
    assert tab.locator("#search").evaluate("input => getComputedStyle(input).direction") == "rtl"
    option = tab.get_by_role("option").first
    expect(option).to_have_text("كتاب460 ×")
    assert option.locator("bdi").bounding_box()["x"] > option.locator("span").bounding_box()["x"]
    option.click()
    expect(tab.locator("#word-name")).to_have_text("كتاب")


def test_page_can_be_used_with_the_keyboard_alone(tab, full):
    tab.goto(full)
    tab.keyboard.press("/")
    tab.keyboard.type("KIN")
    search = tab.get_by_role("combobox")
    expect(search).to_have_attribute("aria-activedescendant", "found-0")
    tab.keyboard.press("ArrowDown")
    expect(search).to_have_attribute("aria-activedescendant", "found-1")
    expect(tab.get_by_role("option", selected=True)).to_contain_text("kingdom")
    tab.keyboard.press("Escape")
    expect(search).to_have_attribute("aria-expanded", "false")
    tab.keyboard.press("ArrowDown")
    tab.keyboard.press("ArrowUp")
    tab.keyboard.press("ArrowDown")
    tab.keyboard.press("Enter")
    expect(tab.locator("#word-name")).to_have_text("king")
    tab.keyboard.press("Tab")
    first = tab.locator("#word-neighbors a").first
    expect(first).to_be_focused()
    assert first.evaluate("each => getComputedStyle(each).outlineStyle") == "solid"
    tab.keyboard.press("Enter")
    expect(tab.locator("#word-name")).to_have_text("queen")
    expect(tab.locator("#word-name")).to_be_focused()


def test_keys_and_buttons_pan_and_zoom_the_map(tab, full):
    tab.goto(full)
    tab.locator("canvas").focus()
    drawings = [drawing_of(tab)]
    for key in ("+", "ArrowLeft", "ArrowDown", "-"):
        tab.keyboard.press(key)
        tab.wait_for_timeout(100)
        drawings.append(drawing_of(tab))
    assert len(set(drawings[:-1])) == 4
    tab.keyboard.press("0")
    wait_for_zoom(tab, 1)
    tab.get_by_role("button", name="Zoom in").click()
    wait_for_zoom(tab, 2)
    tab.get_by_role("button", name="Show the whole map").click()
    wait_for_zoom(tab, 1)
    assert drawing_of(tab) == drawings[0]


def test_click_on_the_map_selects_a_word_and_on_the_legend_hides_a_group(tab, full):
    tab.goto(full)
    tab.mouse.click(*position_of(tab, "Oslo"))
    expect(tab.locator("#word-name")).to_have_text("Oslo")
    tab.get_by_role("button", name="Show the whole map").click()
    wait_for_zoom(tab, 1)
    before = drawing_of(tab)
    group = tab.get_by_role("group", name="Groups of words").get_by_role("button").first
    group.click()
    expect(group).to_have_attribute("aria-pressed", "false")
    tab.mouse.move(0, 0)
    assert drawing_of(tab) != before


def test_wheel_zooms_and_dragging_pans_the_map(tab, full):
    tab.goto(full)
    tab.mouse.move(400, 400)
    tab.mouse.wheel(0, -400)
    tab.wait_for_timeout(300)
    assert zoom_of(tab) > 1.5
    zoomed = drawing_of(tab)
    tab.mouse.down()
    tab.mouse.move(450, 430, steps=4)
    tab.mouse.up()
    assert drawing_of(tab) != zoomed
    expect(tab.locator("#word-name")).to_have_text("Choose a word")  # dragging does not select a word


def test_strongest_context_words_are_listed(tab, full, minimal):
    tab.goto(f"{full}#word=king")
    panel = tab.locator("#word-contributions")
    expect(panel.get_by_role("listitem")).to_have_text(
        ["2 beforequeen0.75", f"1 after{EVIL[0]}-0.25", "nearbyunlisted0.10"]
    )
    expect(panel.get_by_role("link")).to_have_text(["queen", EVIL[0]])
    expect(panel.locator(".bar.negative")).to_have_count(1)
    colors = [bar.evaluate("bar => getComputedStyle(bar).backgroundColor") for bar in panel.locator(".bar i").all()]
    assert colors[0] == colors[2] != colors[1]
    expect(panel).to_contain_text("Bars of negative weights begin at the other end.")
    tab.goto(f"{minimal}#word=king")
    expect(tab.locator("#word-name")).to_have_text("king")
    expect(panel).to_contain_text("These vectors have no counts")
    expect(tab.locator("#word-facts")).to_have_text("rank 1")
    expect(tab.locator("#changes")).to_have_count(0)


def test_changes_since_the_compared_version_are_listed(tab, full):
    tab.goto(f"{full}#word=king")
    now, before = tab.locator("#word-neighbors ol").all()
    expect(now.get_by_role("listitem").first).to_contain_text("queen")
    expect(before.get_by_role("listitem").first).to_contain_text("kingdom")
    expect(before.locator(".gone").nth(1)).to_have_text("bygone")
    assert before.get_by_role("link", name="bygone").count() == 0
    changes = tab.locator("#changes")
    expect(changes.get_by_role("heading")).to_have_text("Changes since version 1")
    changes.get_by_text("Removed words (1)").click()
    expect(changes.get_by_text("bygone")).to_be_visible()
    new_words = changes.locator("details").nth(2)
    expect(new_words.locator("summary")).to_have_text("New words (10)")
    new_words.locator("summary").press("Enter")
    name = new_words.get_by_role("link").first.inner_text()
    new_words.get_by_role("link").first.click()
    expect(tab.locator("#word-name")).to_have_text(name)
    expect(tab.locator("#word-neighbors")).to_contain_text("The word is new.")


@pytest.mark.parametrize("word", EVIL)
def test_words_with_markup_are_shown_as_text(tab, full, word):
    tab.goto(f"{full}#word={quote(word)}")
    shown = word.replace("\u2028", "⟨U+2028⟩").replace("\u202e", "⟨U+202E⟩")
    expect(tab.locator("#word-name")).to_have_text(shown)
    tab.get_by_role("combobox").fill(word)
    if word.strip():
        tab.keyboard.press("Enter")
        assert tab.evaluate("decodeURIComponent(location.hash)") == f"#word={word}"
    assert tab.locator("img, b b, iframe, main script").count() == 0


def test_unknown_words_are_announced(tab, full):
    for address in (NOWHERE, "#word=%E0%A4%A"):
        tab.goto(full + address)
        expect(tab.get_by_role("status")).to_contain_text("is not on this page.")
    tab.get_by_role("combobox").fill("qqq")
    expect(tab.get_by_role("status")).to_have_text("No word found.")
    expect(tab.locator("#found-none")).to_be_visible()
    tab.get_by_role("combobox").fill("king")
    expect(tab.locator("#found-none")).to_be_hidden()


def test_unknown_word_in_the_address_replaces_the_panel_of_the_last_word(tab, full):
    tab.goto(f"{full}#word=king")
    tab.goto(full + NOWHERE)
    expect(tab.locator("#word-name")).to_have_text("nowhere <b>")
    expect(tab.locator("#word-facts")).to_have_text("This word is not on this page.")
    expect(tab.locator("#word-neighbors")).to_be_empty()


@phone
def test_small_touch_screen_has_panels_below_the_map_and_large_buttons(context, tab, full):
    tab.goto(full)
    assert tab.evaluate("document.documentElement.scrollWidth") == PHONE["width"]
    map_box, word_box = tab.locator("#map").bounding_box(), tab.locator("#word").bounding_box()
    assert map_box["y"] + map_box["height"] <= word_box["y"]
    assert map_box["height"] > PHONE["height"] * 0.4
    tab.touchscreen.tap(*position_of(tab, "bergen"))
    expect(tab.locator("#word-name")).to_have_text("bergen")
    assert cut_texts(tab) == []
    link = tab.locator("#word-neighbors a").nth(3)
    name = link.inner_text()
    link.tap()
    expect(tab.locator("#word-name")).to_have_text(name)
    before = zoom_of(tab)
    tab.evaluate("scrollTo(0, 0)")
    pinch(context, tab, map_box["x"] + map_box["width"] / 2, map_box["y"] + map_box["height"] / 2)
    assert zoom_of(tab) > 1.5 * before
    assert tab.evaluate("document.documentElement.scrollWidth") == PHONE["width"]


RECORD_LABELS = """
window.labels = [];
const fillText = CanvasRenderingContext2D.prototype.fillText;
CanvasRenderingContext2D.prototype.fillText = function (text, left, top) {
  labels.push([left, left + this.measureText(text).width, this.canvas.clientWidth]);
  return fillText.call(this, text, left, top);
};
"""


@phone
def test_words_at_the_edge_of_a_map_are_not_cut(tab, full):
    tab.add_init_script(RECORD_LABELS)
    tab.goto(f"{full}#word=king")
    tab.wait_for_function("labels.length > 20")
    labels = np.array(tab.evaluate("labels"))
    begins, ends, widths = labels.T
    assert (begins >= 0).all()
    assert (ends <= widths + 1).all()  # begins are rounded


def test_selected_word_stays_visible_when_the_window_shrinks(tab, full):
    tab.goto(f"{full}#word=king")
    tab.set_viewport_size(PHONE)
    expect(tab.locator("#word-name")).to_be_visible()
    assert tab.evaluate("document.documentElement.scrollWidth") == PHONE["width"]
    canvas = tab.locator("canvas")
    assert canvas.evaluate("each => each.width") == canvas.evaluate("each => each.clientWidth * devicePixelRatio")


@dark
def test_dark_color_scheme_has_a_dark_background(tab, full):
    tab.goto(full)
    red, green, blue = tab.evaluate("getComputedStyle(document.body).backgroundColor.match(/\\d+/g).map(Number)")
    assert max(red, green, blue) < 60
    night = drawing_of(tab)
    tab.emulate_media(color_scheme="light")
    assert drawing_of(tab) != night


def test_maps_of_the_demo_report_are_drawn_and_zoomed(tab, vectors, tmp_path):
    sizes = {"documents": 1, "tokens": 2, "vocabulary": 3, "text_bytes": 4}
    write_manifest(str(tmp_path), **sizes)
    lettered = CipherVectors([chr(0x4E00 + number) for number in range(len(vectors))], vectors.vectors)
    tables = {"Cat": vectors, "Sum": lettered}
    write_report(str(tmp_path / "report.html"), "A report", "", str(tmp_path), tables, ["king"], {"count": 1.0})
    tab.goto((tmp_path / "report.html").as_uri())
    blank = drawing_of(tab)
    tab.get_by_role("button", name="Zoom in").first.click()
    wait_for_zoom(tab, 2)
    assert drawing_of(tab) != blank
    expect(tab.get_by_role("group", name="Groups of words")).to_have_count(2)
    tab.get_by_role("group", name="Groups of words").last.get_by_role("button").first.click()


def pinch(context: BrowserContext, tab: Page, x: float, y: float) -> None:
    """Simulate a pinch gesture of two fingers that move apart."""
    session = context.new_cdp_session(tab)
    for kind, distances in (("touchStart", [30]), ("touchMove", range(40, 121, 20)), ("touchEnd", [None])):
        for distance in distances:
            points = [] if distance is None else [{"x": x - distance, "y": y}, {"x": x + distance, "y": y}]
            session.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})

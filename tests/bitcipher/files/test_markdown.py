"""Markdown that shows any text as it is."""

import html
import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from bitcipher.files.markdown import MarkdownTable, escape, format_table, split_tables
from bitcipher.redaction import escape_controls

PARSER = MarkdownIt("commonmark").enable(["table", "strikethrough"])
HOSTILE = [
    *("[a](http://x)", "![a](http://x)", "<http://x>", "http://x", "www.x.org", "me@x.org", "<b>b</b>", "&lt;", "`a`"),
    *("**a** _b_ ~~c~~", "a_b_c", "\\", "\\|", "$x$", "[a]: http://x", "\x1b[2J", "# a", "a\n\n- b", "|", "a\\"),
]
TEXTS = st.text() | st.lists(st.sampled_from([*HOSTILE, "a", "_", "*", " "])).map("".join)


def shown(text):
    """Return what a reader sees of a text in one line."""
    return escape_controls(" ".join(text.split()))


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_texts_are_shown(text):
    check(text)


@given(TEXTS)
@example("_a_b_")
def test_any_text_is_shown(text):
    check(text)


def check(text):
    page = PARSER.render(format_table(["h", "i"], [[text, "x"]]))
    assert set(re.findall(r"<(\w+)", page)) == {"table", "thead", "tbody", "tr", "th", "td"}
    cell = html.unescape(re.findall(r"<td[^>]*>(.*?)</td>", page, re.DOTALL)[0])
    assert cell.strip() == shown(text).strip()
    # Viewers make links of these without any mark.
    assert not re.search(r"://|www\.|@|\$", escape(text), re.IGNORECASE)


def test_marks_are_around_escaped_cells():
    table = format_table(["a", "b"], [["*", "1"], ["c", "2"]], marks=["**", ""])
    assert table.splitlines()[2:] == [r"| **\*** | **1** |", "| c | 2 |"]


@given(st.lists(st.tuples(TEXTS, TEXTS, st.sampled_from(["", "*", "**"])), max_size=3), TEXTS)
def test_tables_are_read_back(cells, note):
    rows = [[f"x {shown(text)}".strip(), shown(other)] for text, other, _ in cells]
    marks = [mark for *_, mark in cells]
    text = f"{format_table(['a|b', 'c'], rows, marks=marks)}\n{escape(note)}\n"
    assert list(split_tables(text)) == [MarkdownTable(["a|b", "c"], rows, marks, 1), "", shown(note)]

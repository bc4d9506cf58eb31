import pytest

from pipelines.ingest.readers.media_types import HTML, OTHER, TEXT, choose_media_type, parse_charset

PAGE = b"<html><body><p>A page.</p></body></html>"


@pytest.mark.parametrize(
    ("identified", "served", "beginning", "expected"),
    [
        (None, "text/html; charset=utf-8", b"anything", HTML),
        ("text/html", "text/plain", b"anything", HTML),
        ("image/png", "text/html", PAGE, OTHER),
        ("application/octet-stream", "text/html", b"anything", HTML),
        (None, "text/plain", b" \n<!DOCTYPE html><p>", HTML),
        (None, "text/plain", b"\xef\xbb\xbf<HTML lang=en>", HTML),
        (None, "text/plain", b"<p>a fragment</p>", TEXT),
        (None, "text/plain", b"<htmlish>", TEXT),
        (None, "application/pdf", PAGE, OTHER),
        *(
            (None, served, PAGE, HTML)
            for served in (None, "", "html", "text/html charset=utf-8", "*/*", "unknown/unknown")
        ),
        *((None, "application/octet-stream", body, HTML) for body in (PAGE, b"<!-- c --><html>", b"<p>words</p>")),
        (None, None, b"plain words", TEXT),
        *((None, None, body, OTHER) for body in (b"\0\1\2", b"", b'{"a": 1}', b"<?xml version='1.0'?><rss>", b"<svg>")),
    ],
)
def test_order_of_the_evidence(identified, served, beginning, expected):
    assert choose_media_type(identified, served, beginning)[0] == expected


@pytest.mark.parametrize(
    ("served", "reason"), [("text/html", ""), ("text/plain", "sent as text/plain"), ("x", "sent without a valid type")]
)
def test_difference_to_the_header_is_named(served, reason):
    assert choose_media_type("text/html", served, PAGE) == (HTML, reason)


@pytest.mark.parametrize(
    "value",
    ["text/html; charset=koi8-r", "text/html;CHARSET='koi8-r'", 'a/b; charset = "koi8-r"', "text/html charset=koi8-r"],
)
def test_charset_of_a_header(value):
    assert parse_charset(value) == "koi8-r"
    assert parse_charset("text/html") is None

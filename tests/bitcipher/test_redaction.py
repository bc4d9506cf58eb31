import pytest
from hypothesis import given
from hypothesis import strategies as st

from bitcipher.errors import BitcipherError, UnknownWordError
from bitcipher.redaction import escape_controls, redact, redact_values

UNCHANGED = [
    "/data/a?token=1.txt",
    "s3://bucket/a?token=1.txt",
    "abfs://container@account.dfs.core.windows.net/a.txt",
    "sftp://me@host/a.txt",
    "memory://a@b/c.txt",
    "https://example.org:8080/@me/a.txt?page=2&keyword=monkey#top",
    "https://example.org:8080?to=me@example.org",
    "http://[::1]:80/a.txt?&&x",
    "hf://org/name?config=en&split=train",
]
REDACTED = [
    ("https://me:word@host/a.txt", "https://host/a.txt"),
    ("https://token@host/a.txt", "https://host/a.txt"),
    ("https://me:wo/rd@host/a.txt", "https://host/a.txt"),
    ("HTTPS://me:word@[::1]:80/a?key=1", "HTTPS://[::1]:80/a"),
    ("ftp://me:word@host/a", "ftp://host/a"),
    ("https://h/a?x=1&X-Amz-Signature=5&X-Amz-Credential=6&y=2", "https://h/a?x=1&y=2"),
    ("https://h/a?AWSAccessKeyId=1&Signature=2&Expires=3", "https://h/a?Expires=3"),
    ("https://h/a?sv=1&sig=2%3D", "https://h/a?sv=1"),
    ("https://h/a?%74oken=1", "https://h/a"),
    ("https://h/a?x=1;apiKey=2;client_secret=3#access_token=4", "https://h/a?x=1"),
    ("https://h/it's?sig=1", "https://h/it's"),
    ("https://h/?url=https://me:word@g/a?sig=1&y=2", "https://h/?url=https://g/a&y=2"),
    ("zip://a.txt::https://me:word@h/b.zip?token=1", "zip://a.txt::https://h/b.zip"),
]


@pytest.mark.parametrize("uri", UNCHANGED)
def test_uris_without_credentials_are_unchanged(uri):
    assert redact(uri) == uri


@pytest.mark.parametrize(("uri", "redacted"), REDACTED)
def test_credentials_are_removed(uri, redacted):
    assert redact(uri) == redacted
    assert redact(redacted) == redacted


@pytest.mark.parametrize("text", ["Cannot read {}: no.", "{}", "'{}', ({}).", "list {}, {}", "got ['{}']"])
def test_credentials_are_removed_from_sentences(text):
    uri, redacted = REDACTED[5]
    assert redact(text.format(uri, uri)) == text.format(redacted, redacted)


@given(st.text())
def test_text_without_uris_is_unchanged(text):
    assert redact(text) == text or "://" in text


@given(st.text(alphabet="abc:/?#@&;=%[] .'1"), st.sampled_from(["", "?sig=", "&token="]))
def test_redaction_is_idempotent(text, parameter):
    once = redact(f"https://{text}{parameter}5")
    assert redact(once) == once


def test_error_messages_are_redacted_and_printable():
    error = BitcipherError("Cannot read https://me:word@host/\x1b[31mred\n.txt?token=1: bad.")
    assert str(error) == r"Cannot read https://host/\x1b[31mred\n.txt: bad."
    assert str(UnknownWordError("no word a\x07")) == r"no word a\x07"


def test_controls_are_escaped():
    assert escape_controls("naïve 😀 \u200bx") == "naïve 😀 \u200bx"
    assert escape_controls("a\x00\x1b\n\x85\u202e\u2028") == r"a\x00\x1b\n\x85\u202e\u2028"


def test_uris_in_the_queries_of_uris_are_removed_below_a_depth():
    assert redact("http://h/?u=" * 3 + "http://me:word@h/?sig=1") == "http://h/?u=" * 3 + "http://h/"
    assert "word" not in redact("http://h/?u=" * 4_000 + "http://me:word@h/?sig=1")


@pytest.mark.parametrize("unit", ["a", ")", "::a", "a@", "a:", "&u=http://b?", "-_.", "a+"])
def test_megabytes_of_one_pattern_are_redacted(unit):
    """In quadratic time, this would take an hour."""
    pattern = unit * (1_000_000 // len(unit))
    redacted = redact(f"{pattern} http://{pattern}a https://me:word@h/?sig=1")
    assert redacted.startswith(f"{pattern} http://")
    assert redacted.endswith(" https://h/")


def test_redacted_values_keep_their_structure():
    values = {"sources": ["https://me:word@host/a", "b"], "path": None, "n": {"x": 1, "y": ("https://u:p@h/c",)}}
    expected = {"sources": ["https://host/a", "b"], "path": None, "n": {"x": 1, "y": ["https://h/c"]}}
    assert redact_values(values) == expected

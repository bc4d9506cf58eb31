"""Media types of the payloads of web archives: what a page is, by what the archive, the server and its bytes say.

The order is that of the evidence: the type that the archive has identified (`WARC-Identified-Payload-Type`), the type
that the server sent, the first bytes. A type that is missing, malformed or means "some bytes" is no evidence.
"""

import re

HTML = "text/html"
HTML_TYPES = (HTML, "application/xhtml+xml")
TEXT = "text/plain"
OTHER = "other"
"""Stands for all types that are no documents."""

# Types that servers send for files of any type.
UNKNOWN_TYPES = (
    "application/octet-stream",
    "application/unknown",
    "application/x-unknown",
    "application/x-unknown-content-type",
    "binary/octet-stream",
    "content/unknown",
    "unknown/unknown",
)

# Number of bytes at the beginning of a payload that are examined.
BEGINNING_BYTES = 1 << 12

_TYPE = re.compile(r"[a-z0-9!#$&^_.+-]+/[a-z0-9!#$&^_.+-]+")
_CHARSET = re.compile(r"""charset\s*=\s*["']?\s*([\w.:-]{1,40})""", re.IGNORECASE)

# White space, byte order marks, an XML declaration and comments before the first element of a page.
_BEFORE = rb"(?:\xef\xbb\xbf)?\s*(?:<\?xml\b[^>]{0,500}>\s*)?(?:<!--(?:[^-]|-(?!->)){0,2000}-->\s*)*"
_PAGE = re.compile(_BEFORE + rb"<(?:!doctype\s+html|html)\b", re.IGNORECASE)
# Other elements with which a page begins, as in the WHATWG's MIME Sniffing Standard, section 7.1.
_ELEMENT = re.compile(
    _BEFORE + rb"<(?:head|script|iframe|h1|div|font|table|a|style|title|b|body|br|p)[\s/>]", re.IGNORECASE
)
# Beginnings of other text than documents: XML, such as feeds and SVG, and JSON.
_DATA = re.compile(rb"(?:\xef\xbb\xbf)?\s*(?:<[?!a-z]|\{\s*[\"}]|\[\s*[\[{\"\d\]])", re.IGNORECASE)


def choose_media_type(identified: str | None, served: str | None, beginning: bytes) -> tuple[str, str]:
    """Return the media type of a payload, one of `HTML`, `TEXT` and `OTHER`, and what decided it.

    Args:
        identified: type that the archive has identified, or None.
        served: value of the header Content-Type, or None.
        beginning: the first bytes of the payload.

    Returns:
        The type, and a phrase if it differs from the type that the server sent, else an empty string.
    """
    declared = next(filter(None, map(parse_media_type, (identified, served))), "")
    if declared == TEXT:
        chosen = HTML if _PAGE.match(beginning) else TEXT
    elif declared:
        chosen = HTML if declared in HTML_TYPES else OTHER
    else:
        chosen = _recognize(beginning)
    sent = parse_media_type(served)
    if chosen == OTHER or sent == chosen or (chosen == HTML and sent in HTML_TYPES):
        return chosen, ""
    return chosen, f"sent as {sent}" if sent else "sent without a valid type"


def may_be_document(identified: str | None, served: str | None) -> bool:
    """Return whether a payload of the given types can be a document, so that its first bytes are needed."""
    declared = next(filter(None, map(parse_media_type, (identified, served))), "")
    return declared in ("", TEXT, *HTML_TYPES)


def parse_media_type(content_type: str | None) -> str:
    """Return the media type in a header, in lower case; an empty string if there is none, or it means any bytes."""
    media_type = (content_type or "").partition(";")[0].strip().lower()
    return media_type if _TYPE.fullmatch(media_type) and media_type not in UNKNOWN_TYPES else ""


def parse_charset(content_type: str | None) -> str | None:
    """Return the charset in a header, also without the semicolon before it."""
    match = _CHARSET.search(content_type or "")
    return match[1] if match else None


def _recognize(beginning: bytes) -> str:
    if _PAGE.match(beginning) or _ELEMENT.match(beginning):
        return HTML
    is_binary = b"\0" in beginning or len(beginning.translate(None, bytes(range(9)))) < len(beginning)
    return OTHER if is_binary or not beginning.strip() or _DATA.match(beginning) else TEXT

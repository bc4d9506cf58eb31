"""Redaction: text that is safe to print, log and store, without credentials and control characters."""

import re
import unicodedata
from typing import Any
from urllib.parse import unquote

# A URI in a text. In chained URIs of fsspec, such as zip://a.zip::https://host/b.zip, each is a match.
# The length of the protocol is bounded, because a search from each letter of a long word would take quadratic time.
_URI = re.compile(r"([a-z][a-z0-9+.-]{0,63})://((?:(?!::[a-z][a-z0-9+.-]{0,63}://)\S)*)", re.IGNORECASE)
# Punctuation of the sentence after a URI.
_PUNCTUATION = """.,:;!)]}>"'"""
# Maximum number of URIs, each in the query of another, that are examined. Deeper ones are removed.
_MAX_DEPTH = 8
# Protocols whose URIs have a query. In object stores, a question mark is part of the name.
_WITH_QUERY = ("http", "https", "ftp", "ftps", "webdav", "webhdfs", "hf")

# User name and password before the host. The second alternative is a password with an unquoted slash.
_USERINFO = re.compile(r"[^/?#@]*@|[^/?#@:]+:(?!\d*(?:[/?#]|$))[^@]*@")
# Names of query parameters that grant access: of any service, and of signed URLs of cloud stores.
_SECRET_NAME = re.compile(
    r"(.*[-_.])?(sig|sign|hmac|key|keyid|key-pair-id|pass|passwd|passphrase|pwd|auth|authorization|access|bearer|jwt|otp)"
    r"|(.*[-_.])?(sas|session|sessionid|sid|ticket|policy)"
    r"|.*(signature|token|secret|password|credentials?|apikey|api_key|accesskey|accesskeyid|accessid)"
    r"|x-(amz|goog|ms)-.*",
    re.IGNORECASE,
)

# Format characters that change the order of the characters around them.
_BIDI_CONTROLS = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


def redact(text: str) -> str:
    """Return a URI, or a text with URIs, without passwords and the parameters of queries that grant access.

    Other text and URIs are not changed.

    >>> redact("https://me:word@example.org/a.txt?part=1&X-Amz-Signature=5e1f")
    'https://example.org/a.txt?part=1'
    """
    return _redact(text, 0)


def is_secret_name(name: str) -> bool:
    """Return whether a name is that of a parameter or variable that grants access, such as `token` or `API_KEY`."""
    return _SECRET_NAME.fullmatch(name) is not None


def query_parameters(text: str) -> list[str]:
    """Return the names of the parameters in the queries of web addresses in a text, `?` for one without a name."""
    return [
        _name(parameter) or "?"
        for match in _URI.finditer(text)
        if match[1].lower() in _WITH_QUERY and "?" in match[2]
        for parameter in re.split("[&;]", match[2].partition("?")[2].partition("#")[0])
        if parameter
    ]


def redact_values(value: Any) -> Any:
    """Return a plain value, such as the options of a recipe, with all its strings redacted.

    Do not call it for values that hold words or text: a word can look like a URI with a password.
    """
    if isinstance(value, str):
        return redact(value)
    if isinstance(value, dict):
        return {key: redact_values(each) for key, each in value.items()}
    return [redact_values(each) for each in value] if isinstance(value, list | tuple) else value


def escape_controls(text: str) -> str:
    """Return a text with its control characters escaped, so that names in it cannot control a terminal."""
    if text.isprintable():
        return text
    return "".join(repr(each)[1:-1] if _is_control(each) else each for each in text)


def _is_control(character: str) -> bool:
    return character in _BIDI_CONTROLS or unicodedata.category(character) in ("Cc", "Cs", "Zl", "Zp")


def _redact(text: str, depth: int) -> str:
    if "://" not in text:
        return text
    return _URI.sub(lambda match: _redact_match(match, depth), text) if depth <= _MAX_DEPTH else ""


def _redact_match(match: re.Match[str], depth: int) -> str:
    protocol = match[1].lower()
    rest = match[2].rstrip(_PUNCTUATION)
    punctuation = match[2][len(rest) :]
    # Without a password, only http has secrets here. In abfs://container@account, the name is part of the address.
    start = 0
    while (userinfo := _USERINFO.match(rest, start)) and (":" in userinfo[0] or protocol in ("http", "https")):
        start = userinfo.end()
    rest = rest[start:]
    if protocol in _WITH_QUERY:
        rest = _redact_query(rest, depth)
    return f"{match[1]}://{rest}{punctuation}"


def _redact_query(rest: str, depth: int) -> str:
    path, question, query = rest.partition("?")
    query, sharp, fragment = query.partition("#")
    if not question:
        path, sharp, fragment = path.partition("#")
    for mark, parameters in ((question, query), (sharp, fragment)):
        kept = _redact_parameters(parameters, depth)
        path += mark + kept if kept or not parameters else ""
    return path


def _redact_parameters(parameters: str, depth: int) -> str:
    """Return the parameters of a query or a fragment that grant no access."""
    first, *others = re.split(r"([&;])", parameters)
    pairs = zip(["", *others[::2]], [first, *others[1::2]], strict=True)
    kept = "".join(mark + _redact(each, depth + 1) for mark, each in pairs if not is_secret_name(_name(each)))
    return kept if kept == parameters else kept.lstrip("&;")


def _name(parameter: str) -> str:
    name, equals, _ = parameter.partition("=")
    return unquote(name) if equals else ""

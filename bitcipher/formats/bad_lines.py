"""Sentences about lines that are not a word and its values, with the characters that separate them instead."""

import re
from collections import Counter

# Values as C, Python and Java write them. Digits have one way to match, else a long field takes quadratic time.
NUMBER = re.compile(rb"[+-]?(?:(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?|nan|inf|infinity)", re.IGNORECASE)

# Fields of a line end at spaces and tabs. Other white space is part of words.
_FIELD = re.compile(rb"[^ \t]+")

_SEPARATORS = {b"[": "brackets", b"]": "brackets", b"(": "brackets", b")": "brackets"}
_SEPARATORS |= {b";": "semicolons", b",": "commas", b"|": "vertical bars", b":": "colons"}
_SEPARATORS |= {b"=": "equals signs", b'"': "quotes", b"'": "quotes"}
# A field of numbers and characters that separate them, such as `0.1,0.2`, `[0.1`, `0,5` or `]`.
_SEPARATED = re.compile(rb"[\d.eE+-]*([][();,|:\"])[][();,|:\".\deE+-]*")

_ENDS_IN_SEPARATOR = re.compile(rb".+?([][();,|:=\"'])(?:" + NUMBER.pattern + rb")?", re.IGNORECASE | re.DOTALL)
_IN_WORD = re.compile(rb"[][();,|:\"][\d.+-]")

_EXCERPT_BYTES = 40


def split_fields(line: bytes) -> tuple[bytes, list[bytes]]:
    """Return the first field of a line, empty if the line begins with a separator, and the other fields."""
    fields = _FIELD.findall(line)
    return (b"", fields) if line[:1] in (b" ", b"\t") else (fields[0], fields[1:])


def count_numbers(fields: list[bytes]) -> int:
    """Return how many fields at the end of a line are numbers."""
    return next((n for n, field in enumerate(reversed(fields)) if not NUMBER.fullmatch(field)), len(fields))


def describe_line(number: int, line: bytes, vector_size: int, uri: str) -> str:
    """Return a sentence that says why a line does not end in the values of a vector.

    Args:
        number: number of the line.
        line: its bytes.
        vector_size: number of values that it needs.
        uri: the file.
    """
    where = f"Line {number:,} of {uri}"
    word, fields = split_fields(line)
    numbers = count_numbers(fields)
    last = fields[-1 - numbers] if numbers < len(fields) else b""
    if b"\0" in line or "\ufffd" in last.decode("utf-8", "replace"):
        return (
            f"{where} holds bytes that are not text in UTF-8: convert it if it is UTF-16 without a byte-order mark, or "
            'read it with format="word2vec-binary" if it is in word2vec\'s binary format.'
        )
    if separator := find_separator(line):
        return (
            f"{where} has {separator} in its values ({_excerpt(last or word)}): separate the word and its values by "
            "spaces or tabs, and write numbers with a decimal point."
        )
    if not vector_size or (not numbers and not last):
        return f"{where} is not a word followed by numbers: check the format."
    if last and len(fields) >= vector_size:
        return f"{where} holds {_excerpt(last)} instead of a number: fetch the file again, or correct the line."
    return (
        f"{where} has {numbers:,} values after its word instead of {vector_size:,}: correct the line, or fetch the "
        "file again if it is cut short."
    )


def find_separator(line: bytes) -> str | None:
    """Return a name for the separator in the last field of a line that is not a number; None if there is none."""
    word, fields = split_fields(line)
    numbers = count_numbers(fields)
    if not fields:
        match = _IN_WORD.search(word)
        return _SEPARATORS[match[0][:1]] if match else None
    match = _SEPARATED.fullmatch(fields[-1 - numbers]) if numbers < len(fields) else None
    return _SEPARATORS[match[1]] if match else None


def find_common_separator(words: list[bytes]) -> str | None:
    """Return a name for the separator or quote that follows most words, with or without a value; None without one.

    Such words are those of `the, 0.1 0.2` and `the;0.1 0.2`.
    """
    matches = [_ENDS_IN_SEPARATOR.fullmatch(word) for word in words]
    found = Counter(_SEPARATORS[match[1]] for match in matches if match).most_common(1)
    return found[0][0] if found and found[0][1] > max(1, len(words) // 2) else None


def _excerpt(field: bytes) -> str:
    return repr(field[:_EXCERPT_BYTES].decode("utf-8", "replace"))

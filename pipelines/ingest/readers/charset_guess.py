"""Guess of the charset of text that declares none and is not UTF-8.

resiliparse's detector compares frequencies of bytes, and needs some dozens of letters outside ASCII. With fewer, as in
English text with some accents, it names any charset. Windows-1252 is by far the most frequent charset of such text, so
another one needs evidence in the words:

- a charset of another script: most words with letters outside ASCII have no ASCII letters. An accent is inside of a
  word of ASCII letters, and a word of another script is not.
- another charset of the Latin script: accents are as frequent as in the languages that use it, or Windows-1252 gives
  symbols inside of words.
"""

import re

from charset_normalizer import from_bytes
from resiliparse.parse.encoding import detect_encoding

# Charset of text without evidence for another one.
DEFAULT_CHARSET = "cp1252"

# Number of bytes, of the lines that are not ASCII, that the detectors examine: enough for the rarest letters to occur.
GUESS_BYTES = 1 << 16

# Charsets that detectors name for text in another charset, which is more frequent and has the same letters at the same
# bytes, and more of them.
REPLACED_CHARSETS = {"iso8859-16": "cp1250", "iso8859-13": "cp1257", "iso8859-9": "cp1254", "koi8-r": "koi8-u"}

# Charsets of languages with the Latin script other than those of Western Europe. The others that detectors name for
# mostly ASCII text, such as ISO 8859-10, are hardly ever used.
LATIN_CHARSETS = ("cp1250", "iso8859-2", "cp1254", "cp1257", "cp1258")

# Minimum share of letters outside ASCII in languages with these charsets. In a short text, the share must be higher. In
# lines of English that are not ASCII, about one letter in 100 is outside ASCII.
MIN_ACCENT_SHARE = 0.02
MIN_SHORT_ACCENT_SHARE = 0.06
# Number of words with such letters from which a text is not short.
ACCENTED_WORDS = 5

_LETTER = re.compile(r"[^\W\d_]")
_ACCENTED_WORD = re.compile(r"[^\W\d_]*[^\W\d_\x00-\x7f][^\W\d_]*")
# A symbol between letters. In Polish text that is decoded as Windows-1252, many letters are symbols.
_BROKEN_WORD = re.compile(r"[^\W\d_][^\w\s\x00-\x7f\x96\x97\u2018\u2019\u2013\u2014\xad\xb7][^\W\d_]")
# Without "<" in it, so that the time is linear for a text of "<".
_TAG = re.compile(rb"<[^<>]*>")
_CODE = re.compile(rb"<(script|style)\b", re.IGNORECASE)


def guess_charset(sample: bytes) -> str:
    """Return the Python codec that the bytes of a text are probably in. The bytes are not valid UTF-8."""
    lines = _lines_outside_ascii(sample)
    codec = detect_encoding(lines)
    if codec in (None, "utf-8"):  # invalid bytes in a text that is mostly UTF-8
        match = from_bytes(lines).best()
        codec = match.encoding if match else DEFAULT_CHARSET
    codec = REPLACED_CHARSETS.get(codec, codec)
    text = lines.decode(codec, errors="replace")
    words = _ACCENTED_WORD.findall(text)
    letters = "".join(words)
    if _count_other_scripts(letters) > len(letters) - _count_ascii(letters) - _count_other_scripts(letters):
        is_likely = 2 * sum(_count_ascii(word) == 0 for word in words) > len(words)
    else:
        is_likely = codec in LATIN_CHARSETS and (_has_accents(text, words) or _is_broken(lines))
    return codec if is_likely else DEFAULT_CHARSET


def is_other_script(sample: bytes, codec: str) -> bool:
    """Return whether bytes are text in another script than Latin if they are decoded by a codec.

    That is so if all bytes are valid, and most letters of the lines that are not ASCII are of another script.
    """
    try:
        text = _lines_outside_ascii(sample).decode(codec)
    except UnicodeDecodeError as error:
        if error.end < len(error.object):  # the last character may be incomplete
            return False
        text = error.object[: error.start].decode(codec, errors="replace")
    letters = "".join(_LETTER.findall(text))
    return 2 * _count_other_scripts(letters) > len(letters)


def strip_markup(page: bytes) -> bytes:
    """Return a page without scripts, styles and tags, whose ASCII letters are no evidence."""
    parts, at = [], 0
    lowercase = page.lower()
    while element := _CODE.search(page, at):
        parts.append(page[at : element.start()])
        at = lowercase.find(b"</" + element[1].lower(), element.end())
        if at < 0:
            break
    else:
        parts.append(page[at:])
    return _TAG.sub(b" ", b" ".join(parts))


def _lines_outside_ascii(sample: bytes) -> bytes:
    return b"\n".join(line for line in sample.split(b"\n") if not line.isascii())[:GUESS_BYTES]


def _count_ascii(letters: str) -> int:
    return sum(letter.isascii() for letter in letters)


def _count_other_scripts(letters: str) -> int:
    # Latin letters are in the blocks before U+0250, and in Latin Extended Additional.
    return sum(letter >= "\u0250" and not "\u1e00" <= letter < "\u1f00" for letter in letters)


def _has_accents(text: str, words: list[str]) -> bool:
    accents = sum(len(word) - _count_ascii(word) for word in words)
    share = MIN_ACCENT_SHARE if len(words) >= ACCENTED_WORDS else MIN_SHORT_ACCENT_SHARE
    return accents >= share * len(_LETTER.findall(text))


def _is_broken(lines: bytes) -> bool:
    return _BROKEN_WORD.search(lines.decode(DEFAULT_CHARSET, errors="replace")) is not None

"""Unicode normalization of text and of words that are looked up: one form for strings that look the same.

The form is NFC, the W3C's form for text on the web, in which a letter and its accent are one character. Characters that
are never seen are removed: soft hyphens, zero-width spaces and bidirectional marks. Joiners stay where a script uses
them to choose the shape of letters, as in Persian and Hindi, and in sequences of emoji; elsewhere they are removed.
NFKC would also replace characters that look different, such as ² and ﬁ.
"""

import re
import unicodedata
from typing import Literal

Normalization = Literal["NFC", "none"]

# Soft hyphen; zero-width space, word joiner and byte order mark; and the marks of Unicode's bidirectional algorithm.
_INVISIBLE = "\u00ad\u200b\u2060\ufeff\u061c\u200e\u200f\u202a-\u202e\u2066-\u206f"

# Blocks of scripts that use joiners: Arabic, Syriac, N'Ko and Mandaic; those of India and Sri Lanka; Tibetan, Myanmar,
# Khmer and Mongolian; later blocks of them; symbols, emoji and variation selectors, which emoji are joined from.
_JOINED = (
    "\u0600-\u08ff\u0900-\u0dff\u0f00-\u109f\u1780-\u18af\u1a20-\u1aaf\u1b00-\u1bff\ua800-\uabff\ufb50-\ufdff\ufe70-\ufefc"
    "\u2190-\u2bff\ufe0e\ufe0f\U00010a00-\U00011fff\U0001e900-\U0001e95f\U0001f000-\U0001faff"
)
# The pattern also works in the regular expressions of Hugging Face tokenizers.
INVISIBLE_PATTERN = f"[{_INVISIBLE}]|(?<![{_JOINED}])[\u200c\u200d]++(?![{_JOINED}])"

_REMOVED = re.compile(INVISIBLE_PATTERN)


def normalize(text: str) -> str:
    """Return text in NFC without invisible characters.

    >>> normalize("cafe\\u0301 mu\\u00adse\\u00adum wi\\u200bdth")
    'café museum width'
    """
    if text.isascii():
        return text
    text = _REMOVED.sub("", text)
    return text if unicodedata.is_normalized("NFC", text) else unicodedata.normalize("NFC", text)

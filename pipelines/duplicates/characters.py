"""Normal form of text for the search for duplicates: what each character contributes to the words of a text.

The words of a text are its maximal runs of letters, marks and digits, in lowercase and without diacritics. All other
characters separate words. Scripts without spaces between words, such as Chinese, have one word per character.
"""

import unicodedata
from functools import lru_cache

import numpy as np

# Values of the table that are not characters. The control characters with these codes are separators.
SEPARATOR, IGNORED, NUMBER = 0, 1, 2

# Flag of characters that are words of their own.
SINGLE = 1 << 31

# Scripts without spaces between words (Unicode Standard Annex #29, section 4.1): Thai and Lao, Myanmar, Khmer, Han
# radicals, kana, Han, extensions of Myanmar, compatibility ideographs, halfwidth kana, other kana, Han extensions.
_UNSPACED = (
    (0x0E00, 0x0F00), (0x1000, 0x10A0), (0x1780, 0x1800), (0x2E80, 0x2FE0), (0x3005, 0x3008), (0x3041, 0x3100),
    (0x31F0, 0x3200), (0x3400, 0x4DC0), (0x4E00, 0xA000), (0xA9E0, 0xAA00), (0xAA60, 0xAA80), (0xF900, 0xFB00),
    (0xFF66, 0xFFA0), (0x1AFF0, 0x1B170), (0x20000, 0x32400),
)  # fmt: skip

# Surrogates and private use.
_WITHOUT_CHARACTERS = ((0xD800, 0xF900), (0xF0000, 0xFFFFE), (0x100000, 0x10FFFE))

# Han and Hangul are letters without case and diacritics, so only the other blocks need a look at each character.
_LOOKED_UP = ((0, 0x3400), (0x4DC0, 0x4E00), (0xA000, 0xAC00), (0xF900, 0x20000), (0xE0000, 0xE01F0))


@lru_cache
def character_table(fold_numbers: bool) -> np.ndarray:
    """Return the value of each code point, (0x110000,) uint32.

    A value is the normal form of a letter or digit, with the flag `SINGLE` if it is a word of its own; or `SEPARATOR`;
    or `IGNORED`, for diacritics and invisible characters; or `NUMBER`. Code points that Python's version of Unicode
    does not know are letters, because most additions to Unicode are.

    Args:
        fold_numbers: give all digits the value `NUMBER`, as in Wenzek et al. 2020 (CCNet), section 3.1.
    """
    table = np.arange(0x110000, dtype=np.uint32)
    for start, stop in _WITHOUT_CHARACTERS:
        table[start:stop] = SEPARATOR
    for start, stop in _LOOKED_UP:
        for code in range(start, stop):
            table[code] = _value(chr(code), fold_numbers)
    for start, stop in _UNSPACED:
        codes = np.arange(start, stop)
        # Digits, marks and punctuation of these scripts stay what they are.
        codes = codes[[unicodedata.category(chr(code)) in ("Lo", "Lm", "Mc") for code in codes.tolist()]]
        table[codes] = codes | SINGLE
    table.flags.writeable = False
    return table


def _value(character: str, fold_numbers: bool) -> int:
    category = unicodedata.category(character)
    if category == "Cn":
        return ord(character)
    if category in ("Mn", "Me", "Cf"):
        return IGNORED
    if category == "Nd":
        return NUMBER if fold_numbers else ord("0") + unicodedata.decimal(character)
    if category[0] not in "LMN":
        return SEPARATOR
    lower = character.lower()
    decomposed = unicodedata.normalize("NFD", lower)
    letters = [each for each in decomposed if unicodedata.category(each) != "Mn"]
    return ord(letters[0]) if len(letters) == 1 else ord(lower[0])

"""Hostile text: repeated units of many kinds, and random strings of what spaCy's rules treat specially."""

import random
from collections.abc import Iterator

from spacy.lang.en import English

# Units by group. A text of a kind repeats its unit.
UNITS = {
    "marks": ("=", "$", "%", "§", "*", "#", "&", "_", "~", "+", "=$", "\\"),
    "brackets and quotes": ("(", ")", "()", "[]{}", "'", '"', "\"'", "``", "“”", "‘’", "«»", "<", "</"),
    "dashes and periods": ("-", "--", "—", "–", ".", "..a", "...,", "…"),
    "emoji and symbols": ("😀", "👍🏽", "👨\u200d👩\u200d👧", "€", "US$", "1$", "°C.", "½"),
    "special cases": (":)", ":-(((", "^_^", "(*_*)", "' ", "''' ", "'em ", ": ) ", "a.m.", "C++"),
    "contractions": ("'s", "n't", "can't", "I'd've", "y'all'", "’s"),
    "infixes": ("a-", "a--", "a,", "a.B", "a/", "a=", "1-", "a:b<"),
    "numbers": ("1", "1,", "1.", "9km", "1+", "1e-"),
    "addresses": ("http://", "http://a.b/", "www.a.", "a.", "a@", "a@b.c", "@a:", "a:@a.", "1.2.3.4.", "?a=&"),
    "scripts without spaces": ("a", "aB", "北京", "北。", "ไทย", "کتاب", "हिन्दी", "한국"),
    "invisible and combining": ("\u0301", "e\u0301", "a\u200d", "\u200f", "\u202eא", "\ufeff", "\xad", "\U0010fffd"),
    "control and invalid": ("\0", "\x01a", "\x7f", "\ufffd", "\ufdd0", "Ã©", "â€™", "\\u0000"),
    "pages": ("<b>", "<div>", "<a href=x ", "&amp;", "&#x", "<!--", "]]>", "<p", "<script>", "<td><tr>"),
    "white space": (" ", "\n", "\t ", "\u3000", "a ", "a\n", "a. ", "- \n"),
}
GROUPS = {**UNITS, "random": ("words", "marks", "short chunks of marks", "mixture")}
_MARKS = "()[]{}'\".,;:!?-+@#&<>/=$%*_~1a"


def hostile_text(unit: str, length: int) -> str:
    """Return a text of a kind: a unit that is repeated, or random characters."""
    if unit in GROUPS["random"]:
        state = random.Random(unit)
        if unit == "words":
            return "".join(state.choices("abcdefghijklmnopqrstuvwxyz ", k=length))
        if unit == "marks":
            return "".join(state.choices(_MARKS, k=length))
        if unit == "short chunks of marks":
            return " ".join("".join(state.choices(_MARKS, k=31)) for _ in range(length // 32 + 1))[:length]
        parts = [part for units in UNITS.values() for part in units]
        return "".join(state.choices(parts, k=length))[:length]
    return (unit * (length // len(unit) + 1))[:length]


# Special cases, marks and other strings that spaCy's rules name.
_CASES = [case for case in English.Defaults.tokenizer_exceptions or {} if not case.isspace()]
_PARTS = [
    *"=$()[]{}<>.,:;!?'\"`-–—…*&#_+^~/\\@%§0123456789aAbBsSkmMcCfFnté½",
    *[part for units in UNITS.values() for part in units if not part.isspace()],
    *[
        "“",
        "”",
        "’",
        "‘",
        "«",
        "°",
        "²",
        "€",
        "km",
        "10",
        "n't",
        "http://",
        "www.",
        "@x.com",
        "---",
        "mailto:",
        "ftp://",
    ],
    *["192.168.1.1", "1.2.3.4", "?q=", "x.co:80/", "aa.bb", "US$", "'S", "kg", "%.", "é.", "AB.", "a.b.", "\u200d"],
]


def random_strings(seed: int, number: int, longest: int) -> Iterator[str]:
    """Yield random strings, at most `longest` characters long, whose white space is single spaces."""
    state = random.Random(seed)
    while number:
        kind = state.randrange(4)
        if kind == 0:  # alternations and mixtures of few parts
            parts = state.choices(state.sample(_PARTS, state.randint(1, 6)), k=state.randint(1, 80))
        elif kind == 1:  # special cases between other parts
            parts = [state.choice(_CASES if state.random() < 0.5 else _PARTS) for _ in range(state.randint(1, 12))]
        elif kind == 2:  # special cases across spaces
            parts = [state.choice(state.choice([_CASES, _PARTS, [" "]])) for _ in range(state.randint(1, 24))]
        else:  # runs
            parts = [state.choice(_PARTS) * state.randint(1, 30) for _ in range(state.randint(1, 8))]
        text = " ".join("".join(parts).split())[:longest].strip()
        if text:
            number -= 1
            yield text

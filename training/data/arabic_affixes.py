"""Affixes of Arabic words: a light segmentation of conjunctions, prepositions, the article, endings and pronouns.

The source is AraBERT's segmentation by Farasa (Antoun et al. 2020, section 3.2), which needs Java. The rules here have
no dictionary: an affix is split off if enough letters remain, as in light stemmers (Larkey et al. 2007). README.md has
the affixes, and their precision and recall.
"""

from tokenizers import Regex
from tokenizers.normalizers import Normalizer, Replace

# A letter with its diacritics and tatweel, so that vocalized words are segmented like others.
_MARKS = "[\u0640\u064b-\u065f\u0670]*"
_LETTER = f"(?:[\u0621-\u063a\u0641-\u064a\u0671\u067e\u0686\u0698\u06a4\u06af]{_MARKS})"
_BEGIN, _END = r"(?<![\p{L}\p{M}\p{N}])", r"(?![\p{L}\p{M}\p{N}])"


def _spelled(letters: str) -> str:
    return "".join(letter + _MARKS for letter in letters)


_ARTICLE = _spelled("ال")
# Words that begin with the letters of the article, and have none.
_WHOLE = f"(?!(?:{'|'.join(map(_spelled, ('الذي', 'الذين', 'التي', 'الله', 'الآن')))}){_END})"

# Prefixes in their order in a word, one of each group, and what must follow them.
_PREFIXES = (
    {"و": f"{_LETTER}{{3}}", "ف": f"(?:{_ARTICLE}|[أإ]{_MARKS}){_LETTER}{{2}}"},
    {
        "ب": f"(?:{_ARTICLE}{_LETTER}{{2}}|{_LETTER}{{5}})",
        "ك": f"{_ARTICLE}{_LETTER}{{2}}",
        "ل": f"(?:ل{_MARKS}{_LETTER}{{2}}|{_LETTER}{{4}})",
        "س": f"[يت]{_MARKS}{_LETTER}{{3}}",
    },
)
# Suffixes, and the minimum number of letters before them. No suffix ends with another one of its group.
_PRONOUNS = {"ها": 2, "هما": 2, "ه": 3, "هم": 3, "نا": 3}
_ENDINGS = {"ة": 2, "ات": 3, "ون": 4, "ين": 4}

PREFIXES = ("ال", *(prefix for group in _PREFIXES for prefix in group))
SUFFIXES = (*_PRONOUNS, *_ENDINGS)


def steps(mark: str) -> list[Normalizer]:
    """Return normalizers that write prefixes as `PREFIX+mark` and suffixes as `mark+SUFFIX`, separated by spaces.

    Args:
        mark: mark of affixes, a character that is no letter and does not occur in the text.
    """
    prefixes = [
        Replace(Regex(f"{_BEGIN}(?:{'|'.join(_followed(*rule) for rule in group.items())})"), f"{mark} ")
        for group in _PREFIXES
    ]
    # After ل, the article is written without its first letter, as in للكتاب.
    article = f"{_BEGIN}{_WHOLE}(?:{_ARTICLE}|(?<=ل{mark} )ل{_MARKS})\\K(?={_LETTER}{{2}})"
    # The ending before a pronoun, as in كتاباتها, is separated after the pronoun.
    suffixes = [_suffix(suffix, minimum, mark) for group in (_PRONOUNS, _ENDINGS) for suffix, minimum in group.items()]
    return [*prefixes, Replace(Regex(article), f"{mark} "), *suffixes]


def _followed(prefix: str, rest: str) -> str:
    # \K makes the match empty, so the mark is inserted after the prefix, and the offsets of its letters stay.
    return f"{prefix}{_MARKS}\\K(?={rest})"


def _suffix(suffix: str, minimum: int, mark: str) -> Normalizer:
    # The first letter is replaced instead of inserting before it: an inserted character has the offsets of the letter
    # before it, so the suffix would begin at the last letter of the stem.
    first, rest = suffix[0], _spelled(suffix[1:])
    begin = f"{_BEGIN}{_WHOLE}{_LETTER}{{{minimum},}}?"
    return Replace(Regex(f"{begin}\\K{first}(?={_MARKS}{rest}{_END})"), f" {mark}{first}")

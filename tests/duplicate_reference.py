"""Plain Python references of the search for duplicates: words, shingles, groups and clusters."""

import unicodedata
from collections import defaultdict
from collections.abc import Hashable, Iterable, Sequence

import numpy as np
import pyarrow as pa

UNSPACED_NAMES = (
    *(
        "CJK UNIFIED",
        "CJK COMPATIBILITY IDEO",
        "IDEOGRAPHIC",
        "HIRAGANA",
        "KATAKANA",
        "HALFWIDTH KATAKANA",
        "HENTAIGANA",
    ),
    *("THAI", "LAO", "KHMER", "MYANMAR"),
)


def words_of(text: str, fold_numbers: bool = False) -> list[str]:
    """Return the words of a line or text in normal form, from the names and categories of its characters."""
    words, word = [], ""
    for character in text + " ":
        category = unicodedata.category(character)
        name = unicodedata.name(character, "")
        is_separator = category[0] in "PSZ" or category in ("Cc", "Cs", "Co")
        is_single = name.startswith(UNSPACED_NAMES) and category in ("Lo", "Lm", "Mc")
        if is_separator or is_single:
            words += [word] * bool(word) + [character] * is_single
            word = ""
        elif category == "Nd":
            digit = "#" if fold_numbers else str(unicodedata.decimal(character))
            word += "" if word.endswith("#") and fold_numbers else digit
        elif category not in ("Mn", "Me", "Cf"):
            plain = [
                each for each in unicodedata.normalize("NFD", character.lower()) if unicodedata.category(each) != "Mn"
            ]
            word += plain[0] if len(plain) == 1 else character.lower()[0]
    return words


def shingles_of(text: str, size: int = 5) -> set[tuple[str, ...]]:
    """Return the set of shingles of a text, with folded numbers."""
    words = words_of(text, fold_numbers=True)
    return {tuple(words[i : i + size]) for i in range(len(words) - size + 1)}


def jaccard(text: str, other: str) -> float:
    """Return the exact Jaccard similarity of the sets of shingles."""
    first, second = shingles_of(text), shingles_of(other)
    return len(first & second) / len(first | second)


def group_by(keys: Sequence[Hashable]) -> dict[Hashable, list[int]]:
    """Return the indices of each key."""
    groups = defaultdict(list)
    for i, key in enumerate(keys):
        groups[key].append(i)
    return groups


def clusters_of(edges: Iterable[tuple[int, int]]) -> list[set[int]]:
    """Return the connected components of a graph, by merging sets."""
    clusters: list[set[int]] = []
    for edge in edges:
        touched = [cluster for cluster in clusters if cluster & set(edge)]
        clusters = [cluster for cluster in clusters if cluster not in touched] + [set(edge).union(*touched)]
    return clusters


def shuffle_rows(table: pa.Table, seed: int) -> pa.Table:
    """Return the rows of a table in random order."""
    return table.take(np.random.default_rng(seed).permutation(table.num_rows))


def letters_of(number: int) -> str:
    """Return a word for each number. Words of digits would not do, because all numbers are equal in near duplicates."""
    return "".join(chr(ord("a") + int(digit, 16)) for digit in f"{number:x}")


def edit_words(words: list[str], similarity: float, rng: np.random.Generator) -> str:
    """Return a copy of a text in which random words are replaced, with about the given Jaccard similarity."""
    replaced = rng.random(len(words)) > (2 * similarity / (1 + similarity)) ** (1 / 5)
    return " ".join(
        "new" + letters_of(rng.integers(1 << 40)) if new else word for word, new in zip(words, replaced, strict=True)
    )

"""Text in a small vocabulary: which words of a text must be known, and files of words that are.

As the downscaling study has it (Deshpande et al. 2023, sections 3.1 and 3.2).
"""

import csv

from bitcipher import storage
from bitcipher.errors import BitcipherError

# What is left of don't, it's, you're, can't, I'd and she'll where the apostrophe cut them, as in the study's own code.
CONTRACTIONS = frozenset({"nt", "s", "re", "t", "d", "ll"})

# What the column of counts is called, beside the column `word`.
COUNTS = ("frequency", "count", "counts")
# Stands where bytes were not UTF-8. It stays in words of files, so that these differ from all words of letters.
_REPLACED = "\ufffd"


def words_of(text: str) -> list[str]:
    """The words of a sentence that must be known: between spaces, in lower case, letters alone.

    Digits and special characters are taken away (section 3.1), and what nothing is left of is no word. Words with
    capitals behind the first one are names and pass, as do `CONTRACTIONS`: so the study's own code has it.

    Examples:
        >>> words_of("The cat's 9 lives: ask Peter, don't count!")
        ['the', 'cats', 'lives', 'ask', 'dont', 'count']
    """
    written = [word for place, word in enumerate(text.split()) if place == 0 or word == word.lower()]
    letters = ("".join(filter(str.isalpha, word.lower())) for word in written)
    return [word for word in letters if word and word not in CONTRACTIONS]


def read_words(uri: str) -> frozenset[str]:
    """The words of a file: one a line, or the column `word` of a CSV, such as AO-CHILDES' frequencies.

    They are in lower case and letters alone, as the words of texts are. Characters that are not UTF-8, which that file
    has a few of, are replaced: no text has such words.

    Raises:
        BitcipherError: if the file is missing or holds no words.
    """
    words = frozenset(_plain(word) for word, _ in _read(uri)) - {""}
    _refuse_empty(uri, len(words))
    return words


def read_frequencies(uri: str) -> dict[str, int]:
    """The words of a CSV as `read_words` has them, with their counts: those of its column `frequency` or `count`.

    Raises:
        BitcipherError: if the file is missing, holds no words, or does not tell how often each occurs.
    """
    counts: dict[str, int] = {}
    for number, (written, count) in enumerate(_read(uri), start=2):
        if count is None:
            raise BitcipherError(
                f"{uri} does not tell how often words occur, so the most frequent cannot be chosen: "
                f"give a CSV with columns word and {COUNTS[0]}."
            )
        if not count.strip().isdecimal():
            raise BitcipherError(f"The count {count!r} in line {number} of {uri} is no whole number: mend the line.")
        if word := _plain(written):
            counts[word] = counts.get(word, 0) + int(count)
    _refuse_empty(uri, len(counts))
    return counts


def _read(uri: str) -> list[tuple[str, str | None]]:
    """What the lines have as words, and as counts if there is such a column."""
    with storage.reading(uri) as stream:
        lines = stream.read().decode("utf-8-sig", errors="replace").split("\n")
    columns = lines[0].strip().split(",")
    if len(columns) == 1 or "word" not in columns:
        return [(line, None) for line in lines]
    counted = next((name for name in COUNTS if name in columns), None)
    rows = csv.DictReader(lines)
    return [(row["word"] or "", (row[counted] or "") if counted else None) for row in rows]


def _plain(word: str) -> str:
    return "".join(letter for letter in word.lower() if letter.isalpha() or letter == _REPLACED)


def _refuse_empty(uri: str, words: int) -> None:
    if not words:
        raise BitcipherError(f"{uri} holds no words.")

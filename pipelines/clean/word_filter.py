"""Words of a text and of word lists, normalized to filter text by a small vocabulary.

The rules follow Deshpande et al. (2023), *Honey, I Shrunk the Language*, sections 3.1 and 3.2, and their code.
"""

import csv
import re

from bitcipher.errors import BitcipherError
from bitcipher.files.text_files import read_lines

# Endings of don't, it's, you're, can't, I'd and she'll after a split at the apostrophe, as Deshpande et al. split them.
CONTRACTIONS = frozenset({"nt", "s", "re", "t", "d", "ll"})

# Names that the column of counts can have.
COUNT_COLUMNS = ("frequency", "count", "counts")
# Maximum number of digits of a count, as of a 64-bit integer.
MAX_DIGITS = 18
# Hyphens and dashes separate words of a corpus, as in the code of Deshpande et al.
_DASHES = re.compile("[-‐‑‒–—―]+")
# Character that stands for damaged bytes. It stays in the words of a list, so these match no word of a text.
_REPLACEMENT = "\ufffd"


def extract_words(text: str) -> list[str]:
    """Return the words of a sentence that filtering looks up in the vocabulary, in lower case.

    Words are split at spaces. Digits and special characters are removed (section 3.1 of Deshpande et al.), and words
    without letters are skipped. As in the authors' code, a word with capitals is taken as a name and skipped unless it
    is the first word, and `CONTRACTIONS` are skipped.

    Examples:
        >>> extract_words("The cat's 9 lives: ask Peter, don't count!")
        ['the', 'cats', 'lives', 'ask', 'dont', 'count']
    """
    words = [word for index, word in enumerate(text.split()) if index == 0 or word == word.lower()]
    letters = ("".join(filter(str.isalpha, word.lower())) for word in words)
    return [word for word in letters if word and word not in CONTRACTIONS]


def extract_corpus_words(text: str) -> list[str]:
    """Return the words of corpus text that filtering looks up in the vocabulary, in lower case.

    The words are those of `extract_words`, with two differences, which follow the code of Deshpande et al. 2023. Names
    are included, because that code lowercases corpora, and exempts names in GLUE only. Hyphens and dashes separate
    words.

    Examples:
        >>> extract_corpus_words("The well-known Peter's 3 cats")
        ['the', 'well', 'known', 'peters', 'cats']
    """
    return extract_words(_DASHES.sub(" ", text.lower()))


def read_words(uri: str) -> frozenset[str]:
    """Return the words of a text file with one word per line, or of a CSV file with a column `word`.

    Words are converted to lower case and reduced to letters, like the words of texts. Words with U+FFFD (the word list
    of AO-CHILDES has some) match no text.

    Raises:
        BitcipherError: if the file is missing, is not text in UTF-8 and has no byte-order mark, or contains no words.
    """
    words = frozenset(_normalize(word) for word, _ in _read(uri)) - {""}
    _check_not_empty(uri, len(words))
    return words


def read_frequencies(uri: str) -> dict[str, int]:
    """Return the count of each word of a CSV file with a column `word` and a column `frequency`, `count` or `counts`.

    Words are normalized as in `read_words`. The counts of words with the same normalized form are added up.

    Raises:
        BitcipherError: if the file is missing, contains no words, or has no column of counts.
    """
    counts: dict[str, int] = {}
    for number, (word, count) in enumerate(_read(uri), start=2):
        if count is None:
            raise BitcipherError(
                f"{uri} has no column of counts, which is needed to choose the most frequent words: "
                f"give a CSV with the columns word and {COUNT_COLUMNS[0]}."
            )
        if not count.strip().isdecimal() or len(count.strip()) > MAX_DIGITS:
            raise BitcipherError(f"The count in line {number} of {uri} must be an integer, got {count!r}.")
        if normalized := _normalize(word):
            counts[normalized] = counts.get(normalized, 0) + int(count)
    _check_not_empty(uri, len(counts))
    return counts


def _read(uri: str) -> list[tuple[str, str | None]]:
    """Return the word of each line, and its count if the file has a column of counts."""
    lines = read_lines(uri)
    columns = lines[0].strip().split(",") if lines else []
    if len(columns) == 1 or "word" not in columns:
        return [(line, None) for line in lines]
    count_column = next((name for name in COUNT_COLUMNS if name in columns), None)
    rows = csv.DictReader(lines)
    try:
        return [(row["word"] or "", (row[count_column] or "") if count_column else None) for row in rows]
    except csv.Error as error:
        raise BitcipherError(f"{uri} is not a CSV file (line {rows.line_num:,}: {error}).") from None


def _normalize(word: str) -> str:
    return "".join(letter for letter in word.lower() if letter.isalpha() or letter == _REPLACEMENT)


def _check_not_empty(uri: str, words: int) -> None:
    if not words:
        raise BitcipherError(f"{uri} contains no words.")

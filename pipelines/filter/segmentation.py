"""Where the words of a document are cut: into spans that overlap, spans that do not, and sentences."""

import re

import numpy as np

# What ends a sentence, also in Arabic, Urdu and Hindi.
_ENDING = ".!?…؟۔।"
_CLOSING = "\"'”’»)]}*_"
_OPENING = "\"'“‘„«([{*_¿¡"
# A dot behind them ends no sentence. Where one does end there, it is joined to the next, and lost if that one is.
_ABBREVIATIONS = frozenset(
    "mr mrs ms messrs mme mlle dr prof st rev hon jr sr gen col maj capt lt sgt gov sen rep esq "
    "vs etc cf viz al ed eds vol vols no nos pp fig figs ch sec art approx ca inc ltd corp co dept mt ave "
    "jan feb mar apr jun jul aug sep sept oct nov dec".split()
)
# J. or U.S.
_INITIALS = re.compile(r"(?:[^\W\d_]\.)*[^\W\d_]")
# An empty line, as between paragraphs. One line feed may be a line's end within a sentence.
_BLANK_LINE = re.compile(r"\n\s*\n")


def split_words(text: str) -> tuple[list[str], np.ndarray]:
    """The words of a document, and after how many of them paragraphs end.

    Returns:
        What stands between white space, and numbers [paragraphs], int64, rising, the last of them all words.
    """
    words: list[str] = []
    ends = []
    for paragraph in _BLANK_LINE.split(text):
        words += paragraph.split()
        ends.append(len(words))
    return words, np.unique(np.array(ends, np.int64))


def ends_sentence(word: str) -> bool:
    """Whether a sentence may end with a word: by its marks, and if it is no abbreviation or initial.

    Examples:
        >>> [word for word in ["here", 'here."', "Mr.", "U.S.", "(J.", "why?!", "هنا؟"] if ends_sentence(word)]
        ['here."', 'why?!', 'هنا؟']
    """
    marked = word.rstrip(_CLOSING)
    if not marked or marked[-1] not in _ENDING:
        return False
    if marked[-1] != ".":
        return True
    bare = marked[:-1].lstrip(_OPENING).lower()
    return bare not in _ABBREVIATIONS and not _INITIALS.fullmatch(bare)


def begins_lower(word: str) -> bool:
    """Whether a word's first letter is small, so that it goes on with a sentence: "Stop!" he said."""
    return word.lstrip(_OPENING)[:1].islower()


def overlapping(words: int, span: int, stride: int) -> tuple[np.ndarray, np.ndarray]:
    """Spans every so many words, as far as they are whole; of a document shorter than a span, all of it.

    Returns:
        Where they start and stop: two times [spans], int64.
    """
    starts = np.arange(0, max(words - span, 0) + 1, stride)
    return starts, np.minimum(starts + span, words)


def following(words: int, span: int, shortest: int) -> tuple[np.ndarray, np.ndarray]:
    """Spans one behind another, the last of them shorter, and left out if it has too few words.

    Returns:
        Where they start and stop: two times [spans], int64.
    """
    starts = np.arange(0, words - shortest + 1, span)
    return starts, np.minimum(starts + span, words)


def sentences(may_end: np.ndarray, goes_on: np.ndarray, paragraph_ends: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Sentences: up to a word that may end one and is not followed by a small letter, or to a paragraph's end.

    Args:
        may_end: `ends_sentence` of each word, [words], bool.
        goes_on: `begins_lower` of each word, [words], bool.
        paragraph_ends: see `split_words`.

    Returns:
        Where they start and stop: two times [sentences], int64.
    """
    last = may_end.copy()
    last[:-1] &= ~goes_on[1:]
    last[paragraph_ends[paragraph_ends > 0] - 1] = True
    stops = np.flatnonzero(last) + 1
    return np.concatenate([np.zeros(1, np.int64), stops])[: len(stops)], stops

"""Segmentation of documents into overlapping spans, consecutive spans, and sentences."""

import re

import numpy as np

# Marks that end a sentence, including those of Arabic, Urdu and Hindi.
_ENDING = ".!?…؟۔।"
_CLOSING = "\"'”’»)]}*_"
_OPENING = "\"'“‘„«([{*_¿¡"
# Words after which a dot does not end a sentence. A sentence that ends with such a word is joined to the next sentence.
_ABBREVIATIONS = frozenset(
    "mr mrs ms messrs mme mlle dr prof st rev hon jr sr gen col maj capt lt sgt gov sen rep esq "
    "vs etc cf viz al ed eds vol vols no nos pp fig figs ch sec art approx ca inc ltd corp co dept mt ave "
    "jan feb mar apr jun jul aug sep sept oct nov dec".split()
)
# Initials, such as J. or U.S.
_INITIALS = re.compile(r"(?:[^\W\d_]\.)*[^\W\d_]")
# Paragraphs are separated by an empty line. A single line feed can be inside a sentence.
_BLANK_LINE = re.compile(r"\n\s*\n")


def split_words(text: str) -> tuple[list[str], np.ndarray]:
    """Split a document into words and paragraphs.

    Returns:
        The words, split at white space, and the position after the last word of each paragraph, (paragraphs,) int64,
        ascending.
    """
    words: list[str] = []
    ends = []
    for paragraph in _BLANK_LINE.split(text):
        words += paragraph.split()
        ends.append(len(words))
    return words, np.unique(np.array(ends, np.int64))


def ends_sentence(word: str) -> bool:
    """Return whether a word has final punctuation, and is neither an abbreviation nor an initial.

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
    """Return whether the first letter is lowercase. Then the word continues a sentence, as in: "Stop!" he said."""
    return word.lstrip(_OPENING)[:1].islower()


def overlapping_spans(words: int, span: int, stride: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the complete spans that start every `stride` words. A document shorter than a span is one span.

    Returns:
        Starts and stops, (spans,) int64 each.
    """
    starts = np.arange(0, max(words - span, 0) + 1, stride)
    return starts, np.minimum(starts + span, words)


def consecutive_spans(words: int, span: int, min_words: int) -> tuple[np.ndarray, np.ndarray]:
    """Return spans without overlap. The last span can be shorter, but has at least `min_words` words.

    Returns:
        Starts and stops, (spans,) int64 each.
    """
    starts = np.arange(0, words - min_words + 1, span)
    return starts, np.minimum(starts + span, words)


def find_sentences(
    may_end: np.ndarray, begins_lower: np.ndarray, paragraph_ends: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return the sentences of a document.

    A sentence ends where a paragraph ends, and after a word with final punctuation if no lowercase letter follows.

    Args:
        may_end: (words,) bool, `ends_sentence` of each word.
        begins_lower: (words,) bool, `begins_lower` of each word.
        paragraph_ends: paragraph ends of `split_words`.

    Returns:
        Starts and stops, (sentences,) int64 each.
    """
    last = may_end.copy()
    last[:-1] &= ~begins_lower[1:]
    last[paragraph_ends[paragraph_ends > 0] - 1] = True
    stops = np.flatnonzero(last) + 1
    return np.concatenate([np.zeros(1, np.int64), stops])[: len(stops)], stops

"""Sentences of a context, with their positions."""

import re

import numpy as np

from pipelines.clean.segmentation import begins_lower, ends_sentence, find_sentences

_WORD = re.compile(r"\S+")


def sentence_spans(text: str) -> list[tuple[int, int]]:
    """Return the start and end character of each sentence, without surrounding white space.

    Sentences end as in `bitcipher study downscaling filter`, and no sentence continues over an empty line.
    """
    words = list(_WORD.finditer(text))
    may_end, is_lower = (np.array([test(word[0]) for word in words], bool) for test in (ends_sentence, begins_lower))
    # Words before an empty line end a paragraph.
    paragraphs = [
        number
        for number, word in enumerate(words[1:], 1)
        if text.count("\n", words[number - 1].end(), word.start()) > 1
    ]
    starts, stops = find_sentences(may_end, is_lower, np.array([*paragraphs, len(words)], np.int64))
    return [
        (words[start].start(), words[stop - 1].end())
        for start, stop in zip(starts.tolist(), stops.tolist(), strict=True)
    ]

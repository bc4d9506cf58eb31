"""Contexts: parts of documents of about equal length, which begin and end with sentences."""

from typing import NamedTuple

from training.tasks.phrases import Word, split_words
from training.tasks.sentence_spans import sentence_spans


class Context(NamedTuple):
    """Consecutive sentences of a document."""

    text: str
    """Text, with single spaces."""
    sentences: tuple[tuple[Word, ...], ...]
    """Words of each sentence."""


def split_document(text: str, context_words: int) -> list[Context]:
    """Return the contexts of a document.

    Args:
        text: the document.
        context_words: number of words of a context, which ends with the sentence that reaches it. The last context is
            left out if it has less than half of them.
    """
    contexts, start, n_words = [], 0, 0
    spans = sentence_spans(text)
    for number, (sentence_start, sentence_end) in enumerate(spans):
        n_words += len(text[sentence_start:sentence_end].split())
        is_last = number + 1 == len(spans)
        if n_words >= context_words or (is_last and 2 * n_words >= context_words):
            contexts.append(_join([text[slice(*span)] for span in spans[start : number + 1]]))
            start, n_words = number + 1, 0
    return contexts


def _join(sentences: list[str]) -> Context:
    parts = [" ".join(sentence.split()) for sentence in sentences]
    text = " ".join(parts)
    words, start = [], 0
    for part in parts:
        words.append(tuple(split_words(text, start, start + len(part))))
        start += len(part) + 1
    return Context(text, tuple(words))

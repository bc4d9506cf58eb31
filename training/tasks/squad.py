"""Questions on texts in SQuAD's JSON: 1.1, 2.0, and what took its form, such as ARCD and XQuAD."""

import gzip
import json
import re
from dataclasses import dataclass
from typing import Any

from bitcipher import storage
from bitcipher.errors import BitcipherError


@dataclass(frozen=True)
class Question:
    """A question on a context, whose answers are parts of it."""

    number: str
    """The question's id in the file."""
    question: str
    context: str
    golds: tuple[str, ...]
    """The right answers as published; none means that the context holds no answer."""
    spans: tuple[tuple[int, int], ...]
    """Where the answers stand, as far as they were found: the first character and the one behind the last, with no
    white space at either side."""


@dataclass(frozen=True)
class QuestionFile:
    """The questions of a file, and how its answers' places were."""

    questions: tuple[Question, ...]
    repaired: int
    """Answers that were not at their place, and were found elsewhere."""
    lost: int
    """Answers that are nowhere in their context: they count as right answers, and are not learnt from."""


def read_squad(uri: str) -> QuestionFile:
    """The questions of a file, plain or gzip.

    An answer that is not where its `answer_start` says is searched: the nearest place with the same words counts,
    whatever white space is between them.

    Raises:
        BitcipherError: if the file is missing, or is not of SQuAD's form; it says where.
    """
    content = _load(uri)
    questions, repaired, lost = [], 0, 0
    place = "data"
    try:
        for a, article in enumerate(content["data"]):
            for p, paragraph in enumerate(article["paragraphs"]):
                place = f"data[{a}].paragraphs[{p}]"
                context = _text(paragraph["context"])
                for q, asked in enumerate(paragraph["qas"]):
                    place = f"data[{a}].paragraphs[{p}].qas[{q}]"
                    answers = [(_text(answer["text"]), int(answer["answer_start"])) for answer in asked["answers"]]
                    found = [find_answer(context, text, start) for text, start in answers]
                    lost += found.count(None)
                    repaired += sum(
                        span is not None and not _is_at(context, text, start)
                        for span, (text, start) in zip(found, answers, strict=True)
                    )
                    questions.append(
                        Question(
                            number=str(asked["id"]),
                            question=_text(asked["question"]),
                            context=context,
                            golds=tuple(text for text, _ in answers),
                            spans=tuple(span for span in found if span),
                        )
                    )
    except (KeyError, TypeError, ValueError) as error:
        raise BitcipherError(f"{uri} is not of SQuAD's form at {place}: {_reason(error)}.") from None
    if not questions:
        raise BitcipherError(f"{uri} holds no questions.")
    return QuestionFile(tuple(questions), repaired, lost)


def find_answer(context: str, answer: str, start: int) -> tuple[int, int] | None:
    """Where an answer stands in its context.

    Args:
        context: the text.
        answer: its part; white space around it does not count.
        start: where it should begin, in characters.

    Returns:
        The first character and the one behind the last, of the nearest place to `start` (the earlier one of two); None
        if the answer is nowhere, or empty.
    """
    words = answer.split()
    if not words:
        return None
    begin = start + len(answer) - len(answer.lstrip())
    if _is_at(context, answer, start):
        return begin, begin + len(answer.strip())
    # Looking ahead, so that places that overlap are all seen.
    pattern = r"(?=(" + r"\s+".join(map(re.escape, words)) + "))"
    spans = [match.span(1) for match in re.finditer(pattern, context)]
    return min(spans, key=lambda span: abs(span[0] - begin), default=None)


def _is_at(context: str, answer: str, start: int) -> bool:
    return start >= 0 and context.startswith(answer, start)


def _load(uri: str) -> Any:
    with storage.reading(uri) as stream:
        content = stream.read()
    try:
        return json.loads(gzip.decompress(content) if uri.endswith(".gz") else content)
    except (OSError, EOFError, ValueError, RecursionError) as error:
        raise BitcipherError(f"{uri} cannot be read as JSON: {error}.") from None


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{value!r:.40} is not a text")
    return value


def _reason(error: Exception) -> str:
    return f"there is no {error}" if isinstance(error, KeyError) else str(error)

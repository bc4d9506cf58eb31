"""Reader of questions in SQuAD's JSON format: SQuAD 1.1 and 2.0, and others such as ARCD and XQuAD."""

import json
import re
from dataclasses import dataclass
from typing import Any

from bitcipher.errors import BitcipherError
from bitcipher.files.decompression import reading_decompressed
from bitcipher.files.plain_values import check_plain


@dataclass(frozen=True)
class Question:
    """Question on a context, whose answers are spans of the context."""

    number: str
    """Id of the question in the file."""
    question: str
    """Text of the question."""
    context: str
    """Text that contains the answers."""
    golds: tuple[str, ...]
    """Correct answers as published; empty if the context has no answer."""
    spans: tuple[tuple[int, int], ...]
    """Character spans (start, end) of the answers that were found, without surrounding white space."""


@dataclass(frozen=True)
class QuestionFile:
    """Questions of a file, with counts of repaired and missing answers."""

    questions: tuple[Question, ...]
    repaired: int
    """Number of answers that were not at their published offset but elsewhere in the context."""
    lost: int
    """Number of answers that do not occur in their context. They count as correct, but are not trained on."""


def read_squad(uri: str) -> QuestionFile:
    """Return the questions of a file, plain or gzip.

    If an answer is not at its `answer_start`, the nearest span with the same words is used. White space between the
    words can differ.

    Raises:
        BitcipherError: if the file is missing or has another format; the message gives the position.
    """
    content = _load(uri)
    questions, repaired, lost = [], 0, 0
    location = "data"
    try:
        for a, article in enumerate(content["data"]):
            for p, paragraph in enumerate(article["paragraphs"]):
                location = f"data[{a}].paragraphs[{p}]"
                context = _text(paragraph["context"])
                for q, entry in enumerate(paragraph["qas"]):
                    location = f"data[{a}].paragraphs[{p}].qas[{q}]"
                    answers = [(_text(answer["text"]), _integer(answer["answer_start"])) for answer in entry["answers"]]
                    found = [find_answer(context, text, start) for text, start in answers]
                    lost += found.count(None)
                    repaired += sum(
                        span is not None and not _is_at(context, text, start)
                        for span, (text, start) in zip(found, answers, strict=True)
                    )
                    questions.append(
                        Question(
                            number=str(entry["id"]),
                            question=_text(entry["question"]),
                            context=context,
                            golds=tuple(text for text, _ in answers),
                            spans=tuple(span for span in found if span),
                        )
                    )
    except (KeyError, TypeError, ValueError) as error:
        raise BitcipherError(f"{uri} is not in SQuAD's format at {location}: {_reason(error)}.") from None
    if not questions:
        raise BitcipherError(f"{uri} has no questions.")
    return QuestionFile(tuple(questions), repaired, lost)


def find_answer(context: str, answer: str, start: int) -> tuple[int, int] | None:
    """Return the character span of an answer in its context.

    Args:
        context: text to search.
        answer: answer text; surrounding white space is ignored.
        start: expected first character.

    Returns:
        Start and end character of the occurrence nearest to `start`; of two equally near occurrences, those of the
        earlier. None if the answer is empty or does not occur in the context.
    """
    words = answer.split()
    if not words:
        return None
    begin = start + len(answer) - len(answer.lstrip())
    if _is_at(context, answer, start):
        return begin, begin + len(answer.strip())
    # A lookahead, so that overlapping occurrences are all found.
    pattern = r"(?=(" + r"\s+".join(map(re.escape, words)) + "))"
    spans = [match.span(1) for match in re.finditer(pattern, context)]
    return min(spans, key=lambda span: abs(span[0] - begin), default=None)


def _is_at(context: str, answer: str, start: int) -> bool:
    return start >= 0 and context.startswith(answer, start)


def _load(uri: str) -> Any:
    with reading_decompressed(uri) as stream:
        content = stream.read()
    try:
        values = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise BitcipherError(f"{uri} cannot be read as JSON: {error}.") from None
    check_plain(values, uri)
    return values


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{value!r:.40} is not a text")
    return value


def _integer(value: Any) -> int:
    if type(value) is not int:
        raise TypeError(f"{value!r:.40} is not an integer")
    return value


def _reason(error: Exception) -> str:
    return f"there is no {error}" if isinstance(error, KeyError) else str(error)

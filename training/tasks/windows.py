"""Overlapping windows of question contexts, with the token positions of the answers."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bitcipher.errors import BitcipherError
from training.tasks.encoder import Encoder, Pieces
from training.tasks.squad import Question

# Start and end of the answer in a window without one: the begin token (Devlin et al. 2019, section 4.3).
NO_ANSWER = 0


@dataclass(frozen=True)
class Windows:
    """Windows of all questions, in the order of the questions."""

    inputs: dict[str, np.ndarray]
    """Model inputs, [W, S] each, for W windows of S tokens. In `Encoder.rows`, A is the question and B a part of the
    context."""
    questions: np.ndarray
    """[W] int64, index of the question of each window, ascending."""
    offsets: np.ndarray
    """[W, S, 2] int32, start and end character in the context of each token; 0 and 0 for tokens outside the context."""
    starts: np.ndarray
    """[W] int64, first token of the first answer, or `NO_ANSWER` if the window does not contain the whole answer."""
    ends: np.ndarray
    """[W] int64, last token of the first answer, or `NO_ANSWER`."""
    truncated_questions: int
    """Number of truncated questions."""


def make_windows(questions: Sequence[Question], encoder: Encoder, stride: int, max_question: int) -> Windows:
    """Split contexts into windows that cover all of their tokens. An empty context has one window.

    Questions are truncated to `max_question` tokens, and to half of the text tokens of a row, so that each window has
    context.

    Args:
        questions: questions with their contexts.
        encoder: encoder with the length of a window.
        stride: number of tokens between the starts of consecutive windows. It is limited to half the context tokens of
            a window, so that an answer that one window splits is complete in another.
        max_question: maximum number of tokens of a question.

    Raises:
        BitcipherError: if the encoder's length is too short for a question and a context.
    """
    if stride < 1 or max_question < 1:
        raise BitcipherError(f"`stride` and `max_question` must be at least 1, got {stride} and {max_question}.")
    room = encoder.room(pair=True)
    max_question = min(max_question, room // 2)
    question_pieces = encoder.pieces([question.question for question in questions])
    distinct = list(dict.fromkeys(question.context for question in questions))
    contexts = dict(zip(distinct, encoder.pieces(distinct), strict=True))

    texts, owners, labels, context_offsets = [], [], [], []
    for number, question in enumerate(questions):
        own = question_pieces[number].ids[:max_question]
        context = contexts[question.context]
        answer = _pieces_of_answer(context, question)
        context_start = len(own) + encoder.second_at
        for first, last in _window_bounds(len(context.ids), room - len(own), stride):
            texts.append((own, context.ids[first:last]))
            context_offsets.append((context_start, context.offsets[first:last]))
            owners.append(number)
            is_whole = answer is not None and first <= answer[0] and answer[1] < last
            labels.append(
                [piece - first + context_start for piece in answer] if answer and is_whole else [NO_ANSWER, NO_ANSWER]
            )

    offsets = np.zeros((len(texts), encoder.length, 2), np.int32)
    for row, (context_start, characters) in enumerate(context_offsets):
        offsets[row, context_start : context_start + len(characters)] = characters
    starts, ends = np.array(labels, np.int64).T
    truncated = sum(len(pieces.ids) > max_question for pieces in question_pieces)
    return Windows(encoder.rows(texts), np.array(owners, np.int64), offsets, starts, ends, truncated)


def _window_bounds(pieces: int, room: int, stride: int) -> list[tuple[int, int]]:
    """Return the first token and the end of each window."""
    step = min(stride, (room + 1) // 2)
    windows = [(0, min(room, pieces))]
    while windows[-1][1] < pieces:
        first = windows[-1][0] + step
        windows.append((first, min(first + room, pieces)))
    return windows


def _pieces_of_answer(context: Pieces, question: Question) -> tuple[int, int] | None:
    """Return the index of the first and of the last context token of the first answer, or None if it has no tokens."""
    if not question.spans:
        return None
    start, end = question.spans[0]
    firsts, lasts = context.offsets.T
    touched = np.flatnonzero((firsts < end) & (lasts > start) & (firsts < lasts))
    return (int(touched[0]), int(touched[-1])) if len(touched) else None

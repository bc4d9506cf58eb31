"""Questions on contexts of any length as rows of one length: windows that overlap, and where answers stand in them."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bitcipher.errors import BitcipherError
from training.tasks.encoder import Encoder, Pieces
from training.tasks.squad import Question

# Where the answer begins and ends in a window that holds none: at the begin token (Devlin et al. 2019, section 4.3).
NO_ANSWER = 0


@dataclass(frozen=True)
class Windows:
    """The windows of all questions, in order."""

    inputs: dict[str, np.ndarray]
    """See `Encoder.rows`: the question is A, a part of the context is B."""
    questions: np.ndarray
    """[W] int64, ascending: whose window it is."""
    places: np.ndarray
    """[W, S, 2] int32: the characters of the context that each token stands for, as in `Pieces`; else 0 and 0."""
    starts: np.ndarray
    """[W] int64: the token that the first answer begins with, or `NO_ANSWER` if it is not whole in the window."""
    ends: np.ndarray
    """[W] int64: the token that it ends with, or `NO_ANSWER`."""
    cut_questions: int
    """How many questions were longer than they may be."""


def make_windows(questions: Sequence[Question], encoder: Encoder, stride: int, max_question: int) -> Windows:
    """Cut contexts into windows that hold every piece of them; an empty context has one window.

    A long question is cut: at `max_question` pieces, and at half the room, so that there is always some context.

    Args:
        questions: with their contexts.
        encoder: whose length a window has.
        stride: pieces from the begin of a window to that of the next one; at most half of what a window holds, so that
            an answer that one window cuts in two is whole in another.
        max_question: pieces.

    Raises:
        BitcipherError: if the encoder's length has no room for both.
    """
    if stride < 1 or max_question < 1:
        raise BitcipherError(f"A stride of {stride} and questions of {max_question} tokens should both be at least 1.")
    room = encoder.room(pair=True)
    max_question = min(max_question, room // 2)
    asked = encoder.pieces([question.question for question in questions])
    distinct = list(dict.fromkeys(question.context for question in questions))
    contexts = dict(zip(distinct, encoder.pieces(distinct), strict=True))

    texts, owners, labels, shown = [], [], [], []
    for number, question in enumerate(questions):
        own = asked[number].ids[:max_question]
        context = contexts[question.context]
        answer = _pieces_of_answer(context, question)
        behind = len(own) + encoder.second_at
        for first, last in _cut(len(context.ids), room - len(own), stride):
            texts.append((own, context.ids[first:last]))
            shown.append((behind, context.places[first:last]))
            owners.append(number)
            is_whole = answer is not None and first <= answer[0] and answer[1] < last
            labels.append(
                [piece - first + behind for piece in answer] if answer and is_whole else [NO_ANSWER, NO_ANSWER]
            )

    places = np.zeros((len(texts), encoder.length, 2), np.int32)
    for row, (behind, characters) in enumerate(shown):
        places[row, behind : behind + len(characters)] = characters
    starts, ends = np.array(labels, np.int64).T
    cut = sum(len(pieces.ids) > max_question for pieces in asked)
    return Windows(encoder.rows(texts), np.array(owners, np.int64), places, starts, ends, cut)


def _cut(pieces: int, room: int, stride: int) -> list[tuple[int, int]]:
    step = min(stride, (room + 1) // 2)
    windows = [(0, min(room, pieces))]
    while windows[-1][1] < pieces:
        first = windows[-1][0] + step
        windows.append((first, min(first + room, pieces)))
    return windows


def _pieces_of_answer(context: Pieces, question: Question) -> tuple[int, int] | None:
    if not question.spans:
        return None
    start, end = question.spans[0]
    firsts, lasts = context.places.T
    touched = np.flatnonzero((firsts < end) & (lasts > start) & (firsts < lasts))
    return (int(touched[0]), int(touched[-1])) if len(touched) else None

"""Analogies: whether b - a + c leads to the word that is to c as b is to a."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from threadpoolctl import threadpool_limits

from bitcipher.errors import BitcipherError
from bitcipher.evaluation.case_variants import CaseVariants
from bitcipher.evaluation.evaluation_sets import AnalogyQuestion, read_analogies
from bitcipher.vocabulary import OOV

if TYPE_CHECKING:
    from bitcipher.vectors import CipherVectors

# Of a product of questions with the table: 32 MB of scores.
BLOCK_QUESTIONS = 512
BLOCK_ROWS = 1 << 14


@dataclass(frozen=True)
class AnalogySection:
    """The questions of one kind."""

    name: str
    questions: int
    """In the file."""
    covered: int
    """Questions of which the table holds all four words."""
    correct: int
    asked: int
    """Questions that count: the covered ones, or all where unknown words make an answer wrong."""

    @property
    def accuracy(self) -> float:
        """The share of right answers, 0 if nothing was asked."""
        return self.correct / self.asked if self.asked else 0.0

    @property
    def coverage(self) -> float:
        """The share of questions of which the table holds all four words."""
        return self.covered / self.questions if self.questions else 0.0


@dataclass(frozen=True)
class AnalogiesResult:
    """The answers to a set of questions."""

    sections: tuple[AnalogySection, ...]

    @property
    def total(self) -> AnalogySection:
        """All sections as one."""
        columns = ((s.questions, s.covered, s.correct, s.asked) for s in self.sections)
        return AnalogySection("total", *(sum(column) for column in zip(*columns, strict=True)))

    @property
    def accuracy(self) -> float:
        """The share of right answers."""
        return self.total.accuracy

    @property
    def coverage(self) -> float:
        """The share of questions of which the table holds all four words."""
        return self.total.coverage


def evaluate_word_analogies(
    vectors: "CipherVectors",
    analogies: str | os.PathLike[str],
    restrict_vocab: int | None = 300_000,
    case_insensitive: bool = True,
    dummy4unknown: bool = False,
) -> AnalogiesResult:
    """Ask questions of analogy by 3CosAdd (Levy and Goldberg 2014); the names and defaults are gensim's.

    The answer is the word whose cosine with unit(b) - unit(a) + unit(c) is highest, other than the three. `<oov>`
    and words whose vector is zero are no answers.

    Args:
        vectors: the table.
        analogies: a file in the form of Google's questions-words.txt.
        restrict_vocab: only so many of the most frequent words count as known, and can be answers.
        case_insensitive: whether case is passed over; the most frequent of words that differ in it has the vector.
        dummy4unknown: whether questions with an unknown word count as answered wrongly instead of being left out.

    Raises:
        BitcipherError: if the file is missing or damaged, or if the table holds all words of no question.
    """
    sections = read_analogies(analogies)
    known = CaseVariants(vectors.index_to_key[:restrict_vocab], case_insensitive)
    covered = {
        name: [question for question in questions if all(word in known for word in question)]
        for name, questions in sections.items()
    }
    if not any(covered.values()):
        raise BitcipherError(
            f"The vectors hold all four words of none of the questions of {os.fspath(analogies)}: is it the same "
            "language?"
        )
    answers = iter(_answer(vectors, [q for questions in covered.values() for q in questions], known))
    results = []
    for name, questions in sections.items():
        right = sum(int(next(answers)) in known.all_rows(question.expected) for question in covered[name])
        asked = len(questions) if dummy4unknown else len(covered[name])
        results.append(AnalogySection(name, len(questions), len(covered[name]), right, asked))
    return AnalogiesResult(tuple(results))


@threadpool_limits.wrap(limits=1)  # the sums of BLAS depend on its threads
def _answer(vectors: "CipherVectors", questions: Sequence[AnalogyQuestion], known: CaseVariants) -> np.ndarray:
    """The row of the answer to each question, (n,) int64."""
    size = sum(map(len, known.rows.values()))
    norms = vectors.norms[:size]
    units = np.asarray(vectors.vectors[:size]) / np.where(norms > 0, norms, 1)[:, None].astype(np.float32)
    is_answer = norms > 0
    is_answer[[row for row in [vectors.key_to_index.get(OOV, size)] if row < size]] = False
    answers = []
    for start in range(0, len(questions), BLOCK_QUESTIONS):
        block = questions[start : start + BLOCK_QUESTIONS]
        a, b, c = (units[[known.row(question[column]) for question in block]] for column in range(3))
        own = [(number, row) for number, q in enumerate(block) for word in q[:3] for row in known.all_rows(word)]
        answers.append(_best_rows(b - a + c, units, is_answer, np.array(own, np.int64)))
    return np.concatenate(answers)


def _best_rows(queries: np.ndarray, units: np.ndarray, is_answer: np.ndarray, excluded: np.ndarray) -> np.ndarray:
    """For each query the row with the highest product, the first of equals; -1 if none can be.

    Args:
        queries: (n, d) float32.
        units: (N, d) float32.
        is_answer: (N,) which rows can be.
        excluded: (m, 2) pairs of a query and a row that is no answer to it.
    """
    best = np.full(len(queries), -1)
    highest = np.full(len(queries), -np.inf, np.float32)
    for start in range(0, len(units), BLOCK_ROWS):
        scores = queries @ units[start : start + BLOCK_ROWS].T
        scores[:, ~is_answer[start : start + BLOCK_ROWS]] = -np.inf
        inside = excluded[(excluded[:, 1] >= start) & (excluded[:, 1] < start + BLOCK_ROWS)]
        scores[inside[:, 0], inside[:, 1] - start] = -np.inf
        found = scores.argmax(axis=1)
        found_scores = scores[np.arange(len(queries)), found]
        better = found_scores > highest
        best[better], highest[better] = found[better] + start, found_scores[better]
    return best

"""Analogy questions: a is to b as c is to which word?"""

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from bitcipher.errors import BitcipherError
from bitcipher.evaluation.case_variants import CaseVariants
from bitcipher.evaluation.evaluation_sets import AnalogyQuestion, read_analogies
from bitcipher.table.vector_table import VectorTable
from bitcipher.vocabulary import OOV

# Block size of the product of questions and table: 32 MB of scores.
BLOCK_QUESTIONS = 512
BLOCK_ROWS = 1 << 14


@dataclass(frozen=True)
class AnalogySection:
    """Scores of one section of analogy questions."""

    name: str
    """Name of the section in the file."""
    questions: int
    """Number of questions in the section."""
    covered: int
    """Questions whose four words are all in the vocabulary."""
    correct: int
    """Questions answered correctly."""
    scored: int
    """Questions that are scored: those covered by the vocabulary, or all if unknown words count as errors."""
    answers: tuple[tuple[AnalogyQuestion, bool], ...] = ()
    """Questions covered by the vocabulary, and whether each is answered correctly."""

    @property
    def accuracy(self) -> float:
        """Share of correct answers, 0 if no question is scored."""
        return self.correct / self.scored if self.scored else 0.0

    @property
    def coverage(self) -> float:
        """Share of questions whose four words are all in the vocabulary."""
        return self.covered / self.questions if self.questions else 0.0


@dataclass(frozen=True)
class AnalogiesResult:
    """Scores of a set of analogy questions."""

    sections: tuple[AnalogySection, ...]
    """Scores of each section, in the order of the file."""

    @property
    def total(self) -> AnalogySection:
        """Section with the sums of the numbers of all sections."""
        columns = ((s.questions, s.covered, s.correct, s.scored) for s in self.sections)
        questions, covered, correct, scored = (sum(column) for column in zip(*columns, strict=True))
        answers = tuple(answer for section in self.sections for answer in section.answers)
        return AnalogySection("total", questions, covered, correct, scored, answers)

    @property
    def accuracy(self) -> float:
        """Share of correct answers in all sections."""
        return self.total.accuracy

    @property
    def coverage(self) -> float:
        """Share of questions whose four words are all in the vocabulary."""
        return self.total.coverage

    def __iter__(self) -> Iterator[Any]:
        """Yield gensim's result: the accuracy, and the correct and incorrect questions of each section and of all."""
        yield self.accuracy
        yield [
            {
                "section": section.name,
                "correct": [tuple(question) for question, is_correct in section.answers if is_correct],
                "incorrect": [tuple(question) for question, is_correct in section.answers if not is_correct],
            }
            for section in (*self.sections, replace(self.total, name="Total accuracy"))
        ]


def evaluate_word_analogies(
    vectors: VectorTable,
    analogies: str | os.PathLike[str],
    restrict_vocab: int | None = 300_000,
    case_insensitive: bool = True,
    dummy4unknown: bool = False,
) -> AnalogiesResult:
    """Answer analogy questions by 3CosAdd (Levy & Goldberg 2014). Names and defaults are gensim's.

    The answer is the word with the highest cosine to unit(b) - unit(a) + unit(c), except a, b and c themselves. `<oov>`
    and words with a zero vector are never answers.

    Args:
        vectors: the vectors.
        analogies: a file in the format of Google's questions-words.txt.
        restrict_vocab: use only this many of the most frequent words, for questions and for answers.
        case_insensitive: whether to ignore case. Among words that differ only in case, the most frequent one is used.
        dummy4unknown: whether questions with an unknown word count as errors instead of being skipped.

    Raises:
        BitcipherError: if the file is missing or damaged, or if the vocabulary covers none of the questions.
    """
    sections = read_analogies(analogies)
    variants = CaseVariants(vectors.index_to_key[:restrict_vocab], case_insensitive, vectors.normalize_key)
    covered = {
        name: [question for question in questions if all(word in variants for word in question)]
        for name, questions in sections.items()
    }
    if not any(covered.values()):
        raise BitcipherError(
            f"The vocabulary covers none of the questions in {os.fspath(analogies)}: check that the language is the "
            "same."
        )
    answers = iter(_answer(vectors, [q for questions in covered.values() for q in questions], variants))
    results = []
    for name, questions in sections.items():
        answered = [(q, int(next(answers)) in variants.all_rows(q.expected)) for q in covered[name]]
        correct = sum(is_correct for _, is_correct in answered)
        scored = len(questions) if dummy4unknown else len(covered[name])
        results.append(AnalogySection(name, len(questions), len(covered[name]), correct, scored, tuple(answered)))
    return AnalogiesResult(tuple(results))


@threadpool_limits.wrap(limits=1)  # BLAS sums depend on the number of threads
def _answer(vectors: VectorTable, questions: Sequence[AnalogyQuestion], variants: CaseVariants) -> np.ndarray:
    """Return the row of the answer to each question, (n,) int64."""
    size = sum(map(len, variants.rows.values()))
    norms = vectors.norms[:size]
    units = np.asarray(vectors.vectors[:size]) / np.where(norms > 0, norms, 1)[:, None].astype(np.float32)
    is_answer = norms > 0
    is_answer[[row for row in [vectors.key_to_index.get(OOV, size)] if row < size]] = False
    answers = []
    for start in range(0, len(questions), BLOCK_QUESTIONS):
        block = questions[start : start + BLOCK_QUESTIONS]
        a, b, c = (units[[variants.row(question[column]) for question in block]] for column in range(3))
        excluded = [
            (number, row) for number, q in enumerate(block) for word in q[:3] for row in variants.all_rows(word)
        ]
        answers.append(_best_rows(b - a + c, units, is_answer, np.array(excluded, np.int64)))
    return np.concatenate(answers)


def _best_rows(queries: np.ndarray, units: np.ndarray, is_answer: np.ndarray, excluded: np.ndarray) -> np.ndarray:
    """Return the row with the highest product for each query, the first of ties, or -1 if no row is allowed.

    Args:
        queries: (n, d) float32.
        units: (N, d) float32.
        is_answer: (N,) bool, whether a row is allowed as an answer.
        excluded: (m, 2) int64, pairs of a query and a row that is not allowed as its answer.
    """
    best = np.full(len(queries), -1)
    highest = np.full(len(queries), -np.inf, np.float32)
    for start in range(0, len(units), BLOCK_ROWS):
        scores = queries @ units[start : start + BLOCK_ROWS].T
        scores[:, ~is_answer[start : start + BLOCK_ROWS]] = -np.inf
        inside = excluded[(excluded[:, 1] >= start) & (excluded[:, 1] < start + BLOCK_ROWS)]
        scores[inside[:, 0], inside[:, 1] - start] = -np.inf
        block_best = scores.argmax(axis=1)
        block_scores = scores[np.arange(len(queries)), block_best]
        better = block_scores > highest
        best[better], highest[better] = block_best[better] + start, block_scores[better]
    return best

"""Extractive question answering: SQuAD 1.1 and 2.0, ARCD, XQuAD."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bitcipher.errors import BitcipherError
from training.metrics.question_answering import scores, scores_with_no_answers
from training.tasks.answers import AnswerPrediction, decode_answers
from training.tasks.base import Features, Kind, Part, check_outputs, get_examples
from training.tasks.baselines import no_answers, phrases_near_question_words, random_spans
from training.tasks.encoder import Encoder
from training.tasks.squad import Question, QuestionFile, read_squad
from training.tasks.windows import make_windows


@dataclass(frozen=True)
class QuestionTask:
    """Question answering task: see `training.tasks.base.Task`. The defaults are those of BERT."""

    name: str
    train: tuple[Question, ...]
    validation: tuple[Question, ...]
    remarks: tuple[str, ...] = ()
    stride: int = 128
    """Number of tokens between the starts of consecutive windows; at most half the context tokens of a window."""
    max_question: int = 64
    """Maximum number of tokens of a question; longer questions are truncated."""
    max_answer: int = 30
    """Maximum number of tokens of an answer."""
    n_best: int = 20
    """Maximum number of candidates per prediction."""
    threshold: float = 0.0
    """Maximum no-answer score of an answered question. It is used only if some validation questions have no answer."""
    kind: Kind = "question-answering"
    labels: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for name in ("stride", "max_question", "max_answer", "n_best"):
            if getattr(self, name) < 1:
                raise BitcipherError(f"`{name}` must be at least 1, got {getattr(self, name)}.")

    @property
    def main_metric(self) -> str:
        """F1 over all validation questions."""
        return "f1"

    @property
    def has_unanswerable(self) -> bool:
        """Whether some validation questions have no answer, as in SQuAD 2.0."""
        return any(not question.golds for question in self.validation)

    def features(self, part: Part, encoder: Encoder) -> Features:
        """Return windows of the contexts, with the first answer of each question as the target."""
        windows = make_windows(get_examples(self, part), encoder, self.stride, self.max_question)
        truncated = windows.truncated_questions
        return Features(
            inputs=windows.inputs,
            targets={"start_positions": windows.starts, "end_positions": windows.ends},
            notes={"questions": windows.questions, "offsets": windows.offsets} if part == "validation" else {},
            remarks=(f"{truncated:,} questions ({part}) were too long and were truncated.",) if truncated else (),
        )

    def predictions(self, features: Features, outputs: dict[str, np.ndarray]) -> list[AnswerPrediction]:
        """Return one prediction per question."""
        check_outputs(self, outputs)
        return decode_answers(
            [question.context for question in self.validation],
            features.notes["questions"],
            features.notes["offsets"],
            outputs["start_logits"],
            outputs["end_logits"],
            max_answer=self.max_answer,
            n_best=self.n_best,
        )

    def score(self, predictions: Sequence[AnswerPrediction]) -> dict[str, float]:
        """Return the metrics of evaluate-v2.0 if some questions have no answer, else those of evaluate-v1.1."""
        golds = [question.golds for question in self.validation]
        texts = [prediction.text for prediction in predictions]
        if not self.has_unanswerable:
            return scores(golds, texts)
        no_answer_scores = [prediction.no_answer_score for prediction in predictions]
        return scores_with_no_answers(golds, texts, no_answer_scores, self.threshold)

    def baselines(self) -> dict[str, list[AnswerPrediction]]:
        """Return a random span of each context, empty answers, and the phrase near most words of the question."""
        return {
            "a random span": random_spans(self.validation, seed=0),
            "no answer": no_answers(self.validation),
            "a phrase near the question's words": phrases_near_question_words(self.validation),
        }


def read_questions(
    name: str, validation: str, train: str | None = None, task: type[QuestionTask] = QuestionTask
) -> QuestionTask:
    """Read a task from files in SQuAD's format.

    Training questions whose answers do not occur in their context are left out. All validation questions are used.
    Remarks give the number of answers with a wrong offset, and the number of answers that do not occur in their
    context.

    Args:
        name: name of the task.
        validation: path or URI of the validation file, plain or gzip.
        train: path or URI of the training file; None if the task is only evaluated.
        task: class of the task.

    Raises:
        BitcipherError: if a file is missing or has another format, or no training question remains.
    """
    files = {uri: read_squad(uri) for uri in (train, validation) if uri}
    trainable = [q for q in files[train].questions if q.spans or not q.golds] if train else []
    if train and not trainable:
        raise BitcipherError(f"{train} has nothing to train on: no answer occurs in its context.")
    remarks = [remark for uri, file in files.items() for remark in _remarks(uri, file)]
    return task(name, tuple(trainable), files[validation].questions, tuple(remarks))


def _remarks(uri: str, file: QuestionFile) -> list[str]:
    source = f"of {len(file.questions):,} questions in {uri}"
    remarks = {
        f"{file.repaired:,} answers {source} were not at their offset and were found elsewhere.": file.repaired,
        f"{file.lost:,} answers {source} do not occur in their context and are not trained on.": file.lost,
    }
    return [remark for remark, number in remarks.items() if number]

"""Question answering in Arabic (ARCD), with metrics for its spelling and the sentence match."""

from collections.abc import Sequence
from dataclasses import dataclass

from training.metrics.arabic_answers import normalize_arabic, sentence_match
from training.metrics.question_answering import scores
from training.tasks.answers import AnswerPrediction
from training.tasks.baselines import first_sentences, most_frequent_answers
from training.tasks.question_answering import QuestionTask
from training.tasks.sentence_spans import sentence_spans


@dataclass(frozen=True)
class ArabicQuestionTask(QuestionTask):
    """Question answering task whose questions all have an answer, scored as in README.md."""

    # A tenth of ARCD's answers has more than 13 words, and Arabic words have up to four affixes, which are tokens.
    max_answer: int = 60

    def score(self, predictions: Sequence[AnswerPrediction]) -> dict[str, float]:
        """Return `exact_match`, `f1` and `sentence_match` of normalized Arabic, and the first two as SQuAD has them."""
        golds = [question.golds for question in self.validation]
        texts = [prediction.text for prediction in predictions]
        starts = {
            question.context: [start for start, _ in sentence_spans(question.context)] for question in self.validation
        }
        matched = sentence_match(
            [starts[question.context] for question in self.validation],
            [[start for start, _ in question.spans] for question in self.validation],
            [prediction.candidates[0].start if prediction.candidates else None for prediction in predictions],
        )
        squad = {f"squad_{name}": value for name, value in scores(golds, texts).items()}
        return {**scores(golds, texts, normalize_arabic), "sentence_match": matched, **squad}

    def baselines(self) -> dict[str, list[AnswerPrediction]]:
        """Return those of SQuAD, the first sentence of each context, and the most frequent answer in training."""
        return super().baselines() | {
            "the first sentence": first_sentences(self.validation),
            "the most frequent answer": most_frequent_answers(self.validation, self.train),
        }

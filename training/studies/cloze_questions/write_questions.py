"""Cloze questions of a corpus, as files in SQuAD's format."""

import gzip
import json
from typing import IO, Any, NamedTuple

import numpy as np

from bitcipher.errors import BitcipherError
from bitcipher.files import storage
from pipelines.ingest.documents import read_all_documents
from pipelines.ingest.sources import Source
from pipelines.runtime.progress import StageProgress
from training.data.counter_rng import derive_key, uniform
from training.studies.cloze_questions.contexts import Context, split_document
from training.studies.cloze_questions.options import ClozeOptions
from training.studies.cloze_questions.question_words import QUESTION_WORDS
from training.studies.cloze_questions.questions import ClozeQuestion, make_questions
from training.tasks.phrases import frequent_words


class QuestionCounts(NamedTuple):
    """Numbers of written questions."""

    train: int
    validation: int


class _QuestionFile:
    """File in SQuAD's format, written article by article, so that memory does not grow with the text."""

    def __init__(self, stream: IO[bytes], name: str) -> None:
        # Without a time and a name of the temporary file, equal questions are equal bytes.
        self._zip = gzip.GzipFile(filename="", mode="wb", fileobj=stream, mtime=0)
        self._zip.write(f'{{"version": "{name}", "data": ['.encode())
        self.n_questions = 0

    def add(self, article: dict[str, Any]) -> None:
        """Write an article."""
        self._zip.write(b",\n" if self.n_questions else b"\n")
        self._zip.write(json.dumps(article, ensure_ascii=False).encode())
        self.n_questions += sum(len(paragraph["qas"]) for paragraph in article["paragraphs"])

    def close(self) -> None:
        """Write the end of the file."""
        self._zip.write(b"\n]}\n")
        self._zip.close()


def write_questions(sources: list[Source], out: str, options: ClozeOptions, progress: StageProgress) -> QuestionCounts:
    """Write the training and the validation file of a question answering task.

    Args:
        sources: text.
        out: folder or URI for train-v1.1.json.gz and dev-v1.1.json.gz; v2.0 if some questions have no answer.
        options: readers, and number and form of the questions.
        progress: display of the progress.

    Raises:
        BitcipherError: if a file exists, the text cannot be read, or one of the files would have no question.
    """
    version = "v2.0" if options.unanswerable_fraction else "v1.1"
    uris = [storage.join(out, f"{part}-{version}.json.gz") for part in ("train", "dev")]
    for uri in uris:
        storage.check_new(uri)
    frequent = frequent_words(read_all_documents(sources, options, "words", progress))
    with storage.writing_new(uris[0]) as train_stream, storage.writing_new(uris[1]) as validation_stream:
        train, validation = (_QuestionFile(stream, version) for stream in (train_stream, validation_stream))
        key = derive_key(options.seed, "validation documents")
        for number, text in enumerate(read_all_documents(sources, options, "questions", progress)):
            contexts = split_document(text, options.context_words)
            questions = make_questions(contexts, frequent, QUESTION_WORDS[options.language], options, number)
            if questions:
                is_validation = uniform(key, np.array([number]), 1)[0, 0] < options.validation_fraction
                (validation if is_validation else train).add(_article(number, contexts, questions))
        counts = QuestionCounts(train.n_questions, validation.n_questions)
        if not all(counts):
            has_none = options.restatements and not any(counts)
            advice = "leave out --restatements" if has_none else "change --validation-fraction"
            raise BitcipherError(
                f"The text gives {counts.train:,} training and {counts.validation:,} validation questions; give more "
                f"documents, or {advice}."
            )
        train.close()
        validation.close()
    return counts


def _article(document: int, contexts: list[Context], questions: list[ClozeQuestion]) -> dict[str, Any]:
    paragraphs: dict[int, dict[str, Any]] = {}
    for index, question in enumerate(questions):
        new = {"context": contexts[question.context].text, "qas": []}
        answers = [] if question.answer is None else [{"text": question.answer, "answer_start": question.answer_start}]
        paragraphs.setdefault(question.context, new)["qas"].append(
            {
                "id": f"{document}-{index}",
                "question": question.question,
                "answers": answers,
                "is_impossible": not answers,
            }
        )
    return {"title": f"document {document}", "paragraphs": list(paragraphs.values())}

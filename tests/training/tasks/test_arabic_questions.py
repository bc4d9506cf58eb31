"""ARCD: its metrics and baselines, and answers of a segmented text."""

import json

import pytest
from test_question_answering import answer, question
from tiny_encoders import KINDS, encoder

from training.tasks.arabic_questions import ArabicQuestionTask
from training.tasks.finetuning.task_files import read_task
from training.tasks.sentence_spans import sentence_spans

CONTEXT = "ولد «القط» في القاهرة. جلس على السجادةِ الكبيرة، ثم نام! هل رآه أحد؟ في البيت الكبير."


def test_sentence_spans():
    assert [CONTEXT[start:end] for start, end in sentence_spans(CONTEXT)] == [
        "ولد «القط» في القاهرة.",
        "جلس على السجادةِ الكبيرة، ثم نام!",
        "هل رآه أحد؟",
        "في البيت الكبير.",
    ]
    assert [
        ("a title\n \nA line\nof text"[slice(*span)]) for span in sentence_spans("a title\n \nA line\nof text")
    ] == [
        "a title",
        "A line\nof text",
    ]
    assert sentence_spans(" \n") == []


@pytest.mark.parametrize("kind", KINDS)
def test_answers_are_slices_of_the_text_without_marks(kind):
    golds = ("القاهرة", "السجادةِ الكبيرة", "البيت الكبير")
    task = ArabicQuestionTask("ARCD", (), tuple(question(CONTEXT, gold, asked="أين القط؟") for gold in golds))
    predictions = answer(task, encoder(kind, 96))
    assert tuple(prediction.text for prediction in predictions) == golds
    assert task.score(predictions) == {
        name: 100 for name in ("exact_match", "f1", "sentence_match", "squad_exact_match", "squad_f1")
    }


def test_answer_can_begin_after_the_article():
    asked = question(CONTEXT, "قاهرة", asked="أين؟")
    (prediction,) = answer(ArabicQuestionTask("ARCD", (), (asked,)), encoder("segmented", 96))
    assert prediction.text == "قاهرة"


def test_baselines():
    train = (question(CONTEXT, "القاهرة"), question(CONTEXT, "القط"), question(CONTEXT, "القط"))
    task = ArabicQuestionTask("ARCD", train, (question(CONTEXT, "القاهرة"), question("كلب كبير.", "كلب")))
    baselines = task.baselines()
    texts = {name: [prediction.text for prediction in guesses] for name, guesses in baselines.items()}
    assert texts["the first sentence"] == ["ولد «القط» في القاهرة.", "كلب كبير."]
    assert texts["the most frequent answer"] == ["القط", "القط"]
    assert texts["no answer"] == ["", ""]
    scores = {name: task.score(guesses) for name, guesses in baselines.items()}
    assert scores["the first sentence"]["sentence_match"] == 100
    assert scores["the first sentence"]["f1"] == pytest.approx(100 * (2 / 5 + 2 / 3) / 2)
    assert scores["the most frequent answer"]["sentence_match"] == 50
    assert scores["no answer"] == dict.fromkeys(scores["no answer"], 0)


def test_read_arcd(tmp_path):
    for name, answers in (("arcd-train", ["القط"]), ("arcd-test", ["القاهرة", "القاهرة."])):
        found = [{"text": text, "answer_start": CONTEXT.index(text)} for text in answers]
        asked = {"context": CONTEXT, "qas": [{"id": 1, "question": "من؟", "answers": found}]}
        (tmp_path / f"{name}.json").write_text(json.dumps({"data": [{"title": "t", "paragraphs": [asked]}]}))
    task = read_task("arcd", str(tmp_path))
    assert isinstance(task, ArabicQuestionTask)
    assert (task.name, len(task.train), task.validation[0].golds) == ("ARCD", 1, ("القاهرة", "القاهرة."))
    assert task.score(answer(task, encoder("segmented", 96)))["exact_match"] == 100

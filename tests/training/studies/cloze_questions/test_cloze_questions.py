from collections import Counter
from typing import get_args

import pytest

from training.studies.cloze_questions.contexts import split_document
from training.studies.cloze_questions.options import ClozeOptions, Language
from training.studies.cloze_questions.question_words import QUESTION_WORDS
from training.studies.cloze_questions.questions import QUESTION_WORDS as MAX_WORDS
from training.studies.cloze_questions.questions import make_questions
from training.tasks.phrases import PhraseKind, split_words

FREQUENT = frozenset({"the", "in", "of", "and", "was"})
CITIES = ("Rome", "Paris", "Vienna", "Cairo", "Lima", "Oslo", "Bern", "Delhi")
DOCUMENT = " ".join(
    f"The painter of {city} was born in {1900 + number} and drew {number + 20} houses near the river."
    for number, city in enumerate(CITIES)
)


def questions(document=0, text=DOCUMENT, **options):
    made = ClozeOptions(context_words=30, **options)
    contexts = split_document(text, made.context_words)
    return contexts, make_questions(contexts, FREQUENT, QUESTION_WORDS["en"], made, document)


def test_answers_are_phrases_of_their_context():
    contexts, made = questions()
    assert Counter(question.context for question in made) == dict.fromkeys(range(len(contexts)), 2)
    for question in made:
        text = contexts[question.context].text
        end = question.answer_start + len(question.answer)
        assert text[question.answer_start : end] == question.answer


def test_question_has_words_around_its_answer():
    contexts, made = questions(questions_per_context=50)
    assert len(made) > len(contexts) * 5
    for question in made:
        asked = [word.text for word in split_words(question.question)]
        kinds = [kind for kind in QUESTION_WORDS["en"].values() if " ".join(asked).startswith(kind)]
        assert kinds
        words = split_words(contexts[question.context].text)
        first = next(number for number, word in enumerate(words) if word.start == question.answer_start)
        last = first + len(question.answer.split())
        near = {word.text for word in words[max(0, first - MAX_WORDS) : last + MAX_WORDS]}
        assert set(asked[3:]) <= near


@pytest.mark.parametrize(
    ("answer", "words"), [("1902", ("when", "in what year")), ("Vienna", ("who", "what", "where", "which"))]
)
def test_question_word_fits_the_answer(answer, words):
    _, made = questions(questions_per_context=50)
    assert any(question.answer == answer for question in made)
    assert all(question.question.startswith(words) for question in made if question.answer == answer)


def test_words_move_by_few_positions_and_some_are_left_out():
    text = "The " + " ".join(f"w{number} and" for number in range(40)) + " Rome was " + " ".join(["and"] * 40) + "."
    _, made = questions(text=text, questions_per_context=100)
    numbers = [
        [int(w.text[1:]) for w in split_words(q.question) if w.text[0] == "w" and w.text[1:].isdecimal()] for q in made
    ]
    numbers = [order for order in numbers if len(order) > 3]
    assert any(order != sorted(order) for order in numbers)
    for order in numbers:
        assert all(abs(order.index(number) - place) <= 3 for place, number in enumerate(sorted(order)))


def test_question_without_words_is_left_out():
    short = "It was near the old river Ebro."
    _, made = questions(text=" ".join([short] * 200), questions_per_context=50)
    assert 100 < len(made) < 400
    alone = {words for of_kind in QUESTION_WORDS["en"].values() for words in of_kind}
    assert not {question.question.removesuffix("?").strip() for question in made} & alone


def test_unanswerable_questions_are_about_another_context_without_the_answer():
    contexts, answerable = questions(questions_per_context=4)
    _, made = questions(questions_per_context=4, unanswerable_fraction=0.5)
    moved = [question for question in made if question.answer is None]
    assert len(contexts) > 1
    assert 0 < len(moved) < len(made) == len(answerable)
    own = {question.question: question for question in answerable}
    for question in moved:
        assert question.context != own[question.question].context
        assert own[question.question].answer not in contexts[question.context].text
    assert {question for question in made if question.answer} <= set(answerable)


RESTATED = "In the city of Vienna the painter was famous and drew the house of Strauss. " + "And so was the dog. " * 5


def test_restatements_are_asked_about_another_context():
    contexts, plain = questions(text=f"{DOCUMENT} {RESTATED}", questions_per_context=50)
    _, made = questions(text=f"{DOCUMENT} {RESTATED}", questions_per_context=50, restatements=True)
    own = {question.question: question for question in plain}
    assert "Vienna" in {question.answer for question in made}
    assert {question.question for question in made} < own.keys()
    for question in made:
        assert question.context != own[question.question].context
        text = contexts[question.context].text
        assert text[question.answer_start :].startswith(question.answer)
        assert question.answer.lower() == own[question.question].answer.lower()


def test_each_language_has_question_words_for_each_kind():
    assert QUESTION_WORDS.keys() == set(get_args(Language))
    for words in QUESTION_WORDS.values():
        assert words.keys() == set(get_args(PhraseKind))
        assert all(words.values())


def test_questions_depend_on_seed_and_document():
    assert questions() == questions()
    assert questions()[1] != questions(seed=2)[1]
    assert questions()[1] != questions(document=1)[1]

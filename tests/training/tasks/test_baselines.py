from training.tasks.baselines import LONGEST, no_answers, random_spans
from training.tasks.question_answering import QuestionTask
from training.tasks.squad import Question


def questions(number, context="one  two three\nfour five six seven eight nine ten"):
    return tuple(Question(str(n), "?", context, ("three",), ((9, 14),)) for n in range(number))


def test_random_spans_are_words_in_a_row_of_the_context():
    asked = questions(3000)
    texts = [prediction.text for prediction in random_spans(asked, seed=1)]
    assert all(text in asked[0].context and text == text.strip() for text in texts)
    numbers = [len(text.split()) for text in texts]
    assert (min(numbers), max(numbers)) == (1, LONGEST)
    assert {text.split()[0] for text in texts} == set(asked[0].context.split())


def test_random_spans_depend_on_the_seed_and_the_place_alone():
    spans = random_spans(questions(50), seed=1)
    assert random_spans(questions(20), seed=1) == spans[:20]
    assert random_spans(questions(50), seed=2) != spans


def test_baselines_of_questions_without_answers():
    asked = (*questions(3), Question("3", "?", "one two", (), ()))
    task = QuestionTask("Mine", (), asked)
    assert task.score(no_answers(asked))["exact"] == 25
    assert task.score(random_spans(asked, seed=0))["NoAns_exact"] == 0
    assert random_spans(questions(1, " \n"), seed=0)[0].text == ""

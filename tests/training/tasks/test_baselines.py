import pytest

from training.tasks.baselines import MAX_WORDS, phrases_near_question_words, random_spans
from training.tasks.entities import EntityTask
from training.tasks.question_answering import QuestionTask
from training.tasks.sentences import SentenceExample, SentenceTask
from training.tasks.squad import Question


def questions(number, context="one  two three\nfour five six seven eight nine ten"):
    return tuple(Question(str(n), "?", context, ("three",), ((9, 14),)) for n in range(number))


def test_most_frequent_label_is_that_of_training_split():
    def labeled(*labels):
        return tuple(SentenceExample("a sentence", None, label) for label in labels)

    task = SentenceTask("Mine", "classification", ("0", "1"), labeled(1, 1, 0), labeled(0, 1, 0, 0), ("accuracy",))
    assert task.score(task.baselines()["most frequent label"]) == {"accuracy": 25}
    without_train = SentenceTask("Mine", "classification", ("0", "1"), (), labeled(0, 1, 0, 0), ("accuracy",))
    assert without_train.score(without_train.baselines()["most frequent label"]) == {"accuracy": 75}
    assert SentenceTask("Mine", "regression", (), labeled(1), labeled(2), ("pearson",)).baselines() == {}


def test_no_entity_baseline():
    sentence = (("Peter", "I-PER"), ("sees", "O"), ("two", "O"), ("dogs", "O"))
    task = EntityTask("Mine", ("O", "I-PER"), (), (sentence, sentence[1:]))
    scores = task.score(task.baselines()["no entity"])
    assert scores["f1"] == 0
    assert scores["accuracy"] == pytest.approx(100 * 6 / 7)


def test_random_spans_are_consecutive_words_of_context():
    asked = questions(3000)
    texts = [prediction.text for prediction in random_spans(asked, seed=1)]
    assert all(text in asked[0].context and text == text.strip() for text in texts)
    numbers = [len(text.split()) for text in texts]
    assert (min(numbers), max(numbers)) == (1, MAX_WORDS)
    assert {text.split()[0] for text in texts} == set(asked[0].context.split())


def test_random_spans_depend_on_seed_and_index_only():
    spans = random_spans(questions(50), seed=1)
    assert random_spans(questions(20), seed=1) == spans[:20]
    assert random_spans(questions(50), seed=2) != spans


def test_baselines_of_unanswerable_questions():
    asked = (*questions(3), Question("3", "?", "one two", (), ()))
    task = QuestionTask("Mine", (), asked)
    assert {name: task.score(guesses)["exact"] for name, guesses in task.baselines().items()} == {
        "a random span": task.score(random_spans(asked, seed=0))["exact"],
        "no answer": 25,
        "a phrase near the question's words": 25,
    }
    assert task.score(random_spans(asked, seed=0))["NoAns_exact"] == 0
    assert random_spans(questions(1, " \n"), seed=0)[0].text == ""


def test_phrase_near_words_of_the_question():
    context = (
        "The Elbe crosses the town of Dresden in the north. The Tiber crosses the city of Rome in the south. "
        "The castle of the king was built in 1672 and the tower of the queen in 1803."
    )
    texts = ("which city does the Tiber cross?", "when was the tower built?", "?")
    rome, year, empty = phrases_near_question_words([Question("1", text, context, (), ()) for text in texts])
    assert (rome.text, year.text) == ("Rome", "1672")
    assert year.no_answer_score < rome.no_answer_score < empty.no_answer_score == 0.5
    assert phrases_near_question_words(questions(1, " \n")) == [("", 0.5, ())]

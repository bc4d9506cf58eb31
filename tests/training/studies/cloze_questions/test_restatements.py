import pytest

from training.studies.cloze_questions.restatements import Restatements
from training.tasks.phrases import find_phrases, split_words

FREQUENT = frozenset({"the", "in", "of", "and", "was", "is", "by"})


def find(question, *texts, same_context=False):
    """Return the place of the phrase "Rome" for a question about the first text."""
    sentences = [split_words(text) for text in texts]
    candidates = [[(words, phrase) for phrase in find_phrases(words, FREQUENT)] for words in sentences]
    rome = next((words, phrase) for words, phrase in candidates[0] if words[phrase.first].text == "Rome")
    if same_context:
        candidates = [[candidate for of_text in candidates for candidate in of_text]]
    return Restatements(candidates, FREQUENT).find(0, rome, question.split())


@pytest.mark.parametrize(
    ("text", "is_found"),
    [
        ("The largest city by the river was Rome.", True),
        ("The river of Rome and the city of the Latins is the Tiber.", True),
        ("The city of the Latins was Rome.", False),
        ("The city by the great river is Naples.", False),
        ("By the river in Rome is the great old city.", False),
        ("The city by the river was ancient Rome.", False),
    ],
    ids=["two words", "other order", "one word", "other phrase", "all words", "longer phrase"],
)
def test_sentence_shares_the_phrase_and_some_words(text, is_found):
    place = find("great old city by the river", "The great old city by the river is Rome.", text)
    assert (place is not None) == is_found
    if place is not None:
        assert (place.context, text[place.start : place.end]) == (1, "Rome")


def test_sentence_with_most_shared_words_is_chosen():
    first, few, most = "The old city by the long river is Rome.", "The old city is Rome.", "The old river city is Rome."
    assert find("old city by the long river", first, few, most, most).context == 2


@pytest.mark.parametrize("same_context", [True, False])
def test_own_context_is_no_restatement(same_context):
    texts = "The old city by the long river is Rome.", "The old river city is Rome."
    place = find("old city by the long river", *texts, same_context=same_context)
    assert (place is None) == same_context

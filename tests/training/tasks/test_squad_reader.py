import gzip
import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bitcipher.errors import BitcipherError
from training.tasks.question_answering import read_questions
from training.tasks.squad import find_answer, read_squad

CONTEXT = "In 1066 the  Normans won; in 1066 they stayed."


def squad(*asked, context=CONTEXT):
    """Return the content of a file with one question per argument: a list of answers as (text, start)."""
    qas = [
        {"id": str(n), "question": f"Question {n}?", "answers": [{"text": t, "answer_start": s} for t, s in answers]}
        for n, answers in enumerate(asked)
    ]
    return {"version": "1.1", "data": [{"title": "T", "paragraphs": [{"context": context, "qas": qas}]}]}


def write(path, content):
    raw = json.dumps(content).encode()
    path.write_bytes(gzip.compress(raw) if path.suffix == ".gz" else raw)
    return str(path)


@pytest.mark.parametrize("name", ["dev.json", "dev.json.gz"])
def test_questions_with_and_without_answers(tmp_path, name):
    file = read_squad(write(tmp_path / name, squad([("1066", 3), ("In 1066", 0)], [])))
    first, second = file.questions
    assert (first.number, first.question, first.context) == ("0", "Question 0?", CONTEXT)
    assert first.golds == ("1066", "In 1066")
    assert first.spans == ((3, 7), (0, 7))
    assert second.golds == second.spans == ()
    assert (file.repaired, file.lost) == (0, 0)


def test_answers_at_wrong_offset_are_repaired_or_counted(tmp_path):
    asked = squad([("1066", 26)], [("the Normans", 8)], [("the Saxons", 8)], [("", 0)], [(" 1066 ", 2)], [("won", -5)])
    file = read_squad(write(tmp_path / "dev.json", asked))
    texts = [[CONTEXT[start:end] for start, end in question.spans] for question in file.questions]
    assert texts == [["1066"], ["the  Normans"], [], [], ["1066"], ["won"]]
    # The nearest of two occurrences is used.
    assert file.questions[0].spans[0][0] == CONTEXT.rindex("1066")
    assert (file.repaired, file.lost) == (3, 2)
    assert file.questions[2].golds == ("the Saxons",)


def test_find_arabic_answer_with_other_spaces():
    context = "ولد في\u00a0دمشق\u00a0القديمة في حيّ"
    start, end = find_answer(context, "في دمشق القديمة", 0)
    assert context[start:end] == "في\u00a0دمشق\u00a0القديمة"


@given(st.text("ab. ", max_size=12), st.text("ab. ", min_size=1, max_size=3), st.integers(-3, 14))
def test_find_answer_returns_nearest_occurrence(context, answer, start):
    words = answer.split()
    occurrences = [
        (i, j)
        for i in range(len(context))
        for j in range(i + 1, len(context) + 1)
        if words and context[i:j].split() == words and not re.search(r"^\s|\s$", context[i:j])
    ]
    wanted = start + len(answer) - len(answer.lstrip())
    found = find_answer(context, answer, start)
    assert (found is None) == (not occurrences)
    if found:
        assert found in occurrences
        assert abs(found[0] - wanted) == min(abs(first - wanted) for first, _ in occurrences)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ([], "at data: list indices"),
        ({"data": [{"paragraphs": [{"context": "c"}]}]}, r"at data\[0\]\.paragraphs\[0\]: there is no 'qas'"),
        ({"data": [{"paragraphs": [{"context": 3, "qas": []}]}]}, r"paragraphs\[0\]: 3 is not a text"),
        (squad([("a", "first")]), r"qas\[0\]: 'first' is not an integer"),
        ({"data": []}, "has no questions"),
    ],
)
def test_invalid_squad_file_raises_with_location(tmp_path, content, message):
    with pytest.raises(BitcipherError, match=message):
        read_squad(write(tmp_path / "dev.json", content))


@pytest.mark.parametrize(
    ("name", "content"),
    [("dev.json", b"{"), ("dev.json.gz", gzip.compress(b"{}", mtime=0)[:-9]), ("dev.json", b"\xff")],
)
def test_invalid_json_raises(tmp_path, name, content):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(BitcipherError, match=r"cannot be read as JSON|is not a complete gzip file"):
        read_squad(str(tmp_path / name))


def test_missing_answers_are_evaluated_but_not_trained_on(tmp_path):
    train = write(tmp_path / "train.json", squad([("1066", 3)], [("Saxons", 8)], [], [("Normans", 0)]))
    validation = write(tmp_path / "dev.json", squad([("Saxons", 8)], [("1066", 3)]))
    task = read_questions("Mine", validation, train)
    assert [question.number for question in task.train] == ["0", "2", "3"]
    assert len(task.validation) == 2
    assert task.remarks == (
        f"1 answers of 4 questions in {train} were not at their offset and were found elsewhere.",
        f"1 answers of 4 questions in {train} do not occur in their context and are not trained on.",
        f"1 answers of 2 questions in {validation} do not occur in their context and are not trained on.",
    )
    with pytest.raises(BitcipherError, match="nothing to train on"):
        read_questions("Mine", validation, write(tmp_path / "lost.json", squad([("Saxons", 8)])))

"""`bitcipher study cloze-questions make`: files, their readers and errors."""

import gzip
import json

import pytest
import user_folder

from training.tasks.finetuning.task_files import read_task

SENTENCE = "The {} river crosses the town of {} in the north, and {} bridges of the old kind were built in {}."
NAMES = ("Elbe", "Oder", "Tiber", "Seine", "Ebro", "Tagus", "Volga", "Don", "Neva", "Po")
ARABIC = (
    "ولد الكاتب Taha Hussein في مدينة القاهرة في عام {} ودرس في جامعة المدينة في كلية الآداب ثم كتب كتبا عن تاريخ مصر."
)


@pytest.fixture
def corpus(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    lines = [
        " ".join(SENTENCE.format(NAMES[(n + i) % 10], NAMES[i].lower(), n + i, 1800 + n) for i in range(8))
        for n in range(60)
    ]
    (tmp_path / "corpus.txt").write_text("\n".join(lines))
    (tmp_path / "arabic.txt").write_text("\n".join(" ".join([ARABIC.format(1900 + n)] * 6) for n in range(60)))
    return tmp_path


@pytest.mark.smoke
def test_files_are_tasks_in_the_format_of_squad(corpus, run_command):
    code, out, err = run_command(
        "study", "cloze-questions", "make", "corpus.txt", "--out", "cloze", "--validation-fraction", 0.2
    )
    assert (code, err) == (0, "")
    task = read_task("squad", "cloze")
    assert out.strip() == f"cloze holds {len(task.train):,} training and {len(task.validation):,} validation questions."
    assert not task.remarks
    assert all(question.spans for question in (*task.train, *task.validation))
    assert not {question.context for question in task.train} & {question.context for question in task.validation}
    numbers = [question.number for question in (*task.train, *task.validation)]
    assert len(set(numbers)) == len(numbers)


def test_equal_text_gives_equal_bytes(corpus, run_command):
    for folder in ("first", "second"):
        assert run_command("study", "cloze-questions", "make", "corpus.txt", "--out", folder)[0] == 0
    for name in ("train-v1.1.json.gz", "dev-v1.1.json.gz"):
        assert (corpus / "first" / name).read_bytes() == (corpus / "second" / name).read_bytes()


def test_unanswerable_questions_have_the_format_of_squad_2(corpus, run_command):
    arguments = ("corpus.txt", "--out", "cloze", "--unanswerable-fraction", 0.4, "--validation-fraction", 0.2)
    assert run_command("study", "cloze-questions", "make", *arguments)[0] == 0
    task = read_task("squad2", "cloze")
    assert task.has_unanswerable
    assert 0 < sum(not question.golds for question in task.train) < len(task.train)
    content = json.loads(gzip.decompress((corpus / "cloze" / "train-v2.0.json.gz").read_bytes()))
    entries = [entry for article in content["data"] for each in article["paragraphs"] for entry in each["qas"]]
    assert all(entry["is_impossible"] == (not entry["answers"]) for entry in entries)


def test_arabic_questions(corpus, run_command):
    arguments = ("arabic.txt", "--out", "cloze", "--language", "ar", "--validation-fraction", 0.2)
    assert run_command("study", "cloze-questions", "make", *arguments, "--context-words", 40)[0] == 0
    asked = read_task("squad", "cloze").train
    assert any(question.question.startswith(("متى", "في أي عام")) for question in asked)
    assert all(question.golds[0] in question.context for question in asked)


def test_restatements_are_a_task_in_the_format_of_squad(corpus, run_command):
    user_folder.write_restated(corpus / "restated.json.gz")
    arguments = ("restated.json.gz", "--out", "cloze", "--validation-fraction", 0.2, "--restatements")
    assert run_command("study", "cloze-questions", "make", *arguments)[0] == 0
    task = read_task("squad", "cloze")
    assert not task.remarks
    for question in (*task.train, *task.validation):
        assert question.golds[0] in question.context
        assert not any(word in question.question and word in question.context for word in ("mayor", "miller"))


def test_text_without_restatements_is_an_error(corpus, run_command):
    (corpus / "once.txt").write_text("\n".join(f"The river {name} crosses the town of Rom{name}." for name in NAMES))
    code, _, err = run_command("study", "cloze-questions", "make", "once.txt", "--out", "cloze", "--restatements")
    assert (code, err.count("\n")) == (2, 1)
    assert "give more documents, or leave out --restatements." in err
    assert not list((corpus / "cloze").glob("*"))
    user_folder.write_restated(corpus / "restated.json.gz")
    arguments = ("restated.json.gz", "--out", "cloze", "--restatements", "--validation-fraction", 1e-6)
    code, _, err = run_command("study", "cloze-questions", "make", *arguments)
    assert (code, err.count("\n")) == (2, 1)
    assert "give more documents, or change --validation-fraction." in err


def test_errors(corpus, run_command):
    (corpus / "short.txt").write_text("A short line.")
    code, _, err = run_command("study", "cloze-questions", "make", "short.txt", "--out", "cloze")
    assert (code, err.count("\n")) == (2, 1)
    assert "The text gives 0 training and 0 validation questions" in err
    assert not list((corpus / "cloze").glob("*"))
    assert run_command("study", "cloze-questions", "make", "corpus.txt", "--out", "made")[0] == 0
    code, _, err = run_command("study", "cloze-questions", "make", "corpus.txt", "--out", "made")
    assert code == 2
    assert "train-v1.1.json.gz" in err
    code, _, err = run_command("study", "cloze-questions", "make", "corpus.txt", "--out", "other", "--language", "de")
    assert code == 2
    assert "`--language`" in err

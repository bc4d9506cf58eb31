"""Output and errors of `bitcipher shard` and `bitcipher sample`."""

import json

import pytest

STORY = "The cat saw the dog in the garden, and then the dog ran to the house of the cat. "


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    lines = [{"text": STORY * 5, "url": "http://a.example/1"}, {"text": "قال القط\x1b[31m", "url": "http://b.example/"}]
    (tmp_path / "a.jsonl").write_text("".join(json.dumps(line) + "\n" for line in [*lines, lines[0]]))
    return tmp_path


@pytest.fixture
def run(folder, run_command):
    return run_command


def test_shard_prints_the_funnel_and_writes_a_report(run, folder):
    (folder / "recipe.yaml").write_text("sources: [a.jsonl]\nrules: [{rule: language, languages: [en]}]\n")
    code, out, err = run("shard", "--recipe", "recipe.yaml", "--out", "documents")
    assert (code, err) == (0, "")
    assert "dropped: language" in out
    assert "dropped: duplicate document" in out
    assert "Version 1: 1 document with 95 words in 1 shard → documents" in out
    page = (folder / "documents/report.html").read_text()
    assert "duplicate document" in page
    assert "قال القط" in page
    assert "Nothing is new" in run("shard", "--recipe", "recipe.yaml", "--out", "documents")[1]


def test_sample_prints_documents_with_escapes_and_reasons(run):
    code, out, _ = run("sample", "a.jsonl", "-n", 2, "--characters", 20)
    assert code == 0
    assert "a.jsonl:1" in out
    assert "http://a.example/1" in out
    assert "The cat saw the dog …" in out
    assert "قال القط\\x1b[31m" in out
    assert "\x1b" not in out
    assert "a.jsonl:3" not in out
    assert "dropped: too few words" in run("sample", "a.jsonl", "--recipe", "wikipedia")[1]


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("shard", "--out", "o"), "No sources are given"),
        (("shard", "nowhere", "--out", "o"), "Cannot use nowhere"),
        (("shard", "a.jsonl", "--out", "o", "--recipe", "c5"), "There is no recipe 'c5'; choose from babylm, c4"),
        (("shard", "a.jsonl", "--out", "."), "is not empty"),
        (("shard", "a.jsonl", "--out", "o", "--max-bad-share", 2), "`--max-bad-share` must be between 0 and 1"),
        (("sample", "a.jsonl", "--field", "body"), ""),
    ],
)
def test_mistakes_give_one_sentence(run, folder, arguments, sentence):
    code, _, err = run(*arguments)
    assert sentence in err
    assert err.count("\n") == (1 if sentence else 0)
    assert code == (2 if sentence else 0)
    assert not (folder / "o").exists()


def test_invalid_recipe_is_named(run, folder):
    (folder / "recipe.yaml").write_text("rules: [{rule: langage}]\n")
    _, _, err = run("shard", "a.jsonl", "--out", "o", "--recipe", "recipe.yaml")
    assert "recipe.yaml" in err
    assert "there is no rule 'langage'; choose from unicode" in err

"""Commands that answer for unknown words by their spelling: `neighbors`, `explain`, `infer`, `evaluate`."""

import re

import labeled
import pytest
from builds import write_lines

from bitcipher import CipherVectors
from bitcipher.stored_build import open_build

STEMS = "walk talk jump laugh paint climb press".split()
TEXT = [
    f"{before} {stem}{ending} {after}"
    for stem in STEMS
    for ending, before, after in (("s", "he", "often"), ("ed", "she", "yesterday"), ("ing", "is", "now"))
] * 9
OPTIONS = ("--tokenizer", "whitespace", "--min-count", 2, "--vector-size", 8, "--window", 2, "--workers", 0)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("spelled")
    write_lines(folder / "text.jsonl", TEXT)
    (folder / "pairs.txt").write_text("walks\ttalks\t9\ndressing\twalking\t7\nhe\tdressing\t1\nis\tyesterday\t0.5\n")
    (folder / "contexts.txt").write_text("he dresses often\n")
    return folder


@pytest.fixture
def command(monkeypatch, folder, run_command):
    monkeypatch.chdir(folder)
    for name, chosen in (("plain", ("--spelling-share", 0)), ("spelled", ())):
        if not (folder / name).exists():
            made = run_command("build", "text.jsonl", "--out", name, *OPTIONS, *chosen)
            assert made[0] == 0, made
    return run_command


def test_neighbors_of_unknown_words_say_that_they_are_spelled(command):
    code, out, errors = command("neighbors", "spelled", "dressing", "walks", "--topn", 3)
    assert (code, errors) == (0, "")
    assert "dressing (from its spelling)" in out
    assert re.search(r"^walks +cosine", out, re.MULTILINE)
    assert re.findall(r"^(\w+ing) ", out, re.MULTILINE)
    for vectors, word in (("plain", "dressing"), ("spelled", "中文")):  # without n-grams, and without known n-grams
        code, out, errors = command("neighbors", vectors, "walks", word)
        assert (code, out) == (2, "")
        assert f"'{word}' is not in the vocabulary" in errors


def test_explain_shows_ngrams(command):
    code, out, errors = command("explain", "spelled", "walking", "talking", "--topn", 4)
    assert (code, errors) == (0, "")
    opened = open_build("spelled")
    explanation = opened.explain("walking", "talking", 4)
    assert len(explanation.ngrams) == 4
    for each in explanation.ngrams:
        assert re.search(rf"^{each.ngram} +spelling +{re.escape(f'{each.weight:+.4f}')} ", out, re.MULTILINE)
    assert "context word or n-gram" in out
    assert "spelling" not in command("explain", "plain", "walking", "talking")[1]


def test_infer_includes_the_spelling(command):
    code, out, errors = command("infer", "spelled", "dresses", "--contexts", "contexts.txt", "--topn", 1)
    assert (code, errors) == (0, "")
    assert re.search(r"^\w+s +\d", out, re.MULTILINE)


def test_evaluate_scores_all_pairs(command):
    code, out, errors = command("evaluate", "spelled", "--similarity", "pairs.txt", "--oov", "spelling")
    assert code == 0, errors
    spelled = CipherVectors.load("spelled").evaluate_word_pairs("pairs.txt", oov="spelling")
    assert f"{100 * spelled.spearman:.1f}" in out
    assert "Not in spelled: dressing; these words have vectors from their n-grams." in out
    code, _, errors = command("evaluate", "plain", "--similarity", "pairs.txt", "--oov", "spelling")
    assert code == 2
    assert "spelling_share" in errors
    code, _, errors = command("evaluate", "spelled", "--similarity", "pairs.txt", "--oov", "zeros")
    assert code == 2
    assert "`--oov` must be spelling or token, got 'zeros'" in errors


def test_probe_gives_unknown_words_a_vector(command, folder):
    labeled.write_gum(folder / "gum", 40)
    labeled.informative_vectors(labeled.TAGS).with_spelling().save(folder / "informative")
    arguments = ("--pos", "gum", "--seeds", 1, "--oov", "spelling")
    code, out, errors = command("evaluate", "informative", *arguments)
    assert (code, errors) == (0, "")
    assert "Unknown words have a vector from their n-grams" in " ".join(out.split())

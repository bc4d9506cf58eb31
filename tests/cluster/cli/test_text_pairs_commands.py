"""Output and errors of `bitcipher train text-pairs`, `evaluate-lm texts` and `evaluate-lm prompts`, on tiny runs."""

import json
from pathlib import Path

import pytest
import tiny_commands
import user_folder

SMALL = tiny_commands.arguments_of()


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """A run on pairs of texts, a causal run, and their data."""
    folder = tmp_path_factory.mktemp("pairs")
    user_folder.write_text_pairs(folder / "pairs")
    user_folder.write_questions(folder)
    tiny_commands.train(folder, folder / "causal")
    tiny_commands.train(folder, folder / "run", f"text.sources=[{folder}/pairs/train.tsv]", recipe="text-pairs")
    return folder


@pytest.fixture
def run(monkeypatch, runs, run_command):
    monkeypatch.chdir(runs)
    return run_command


def test_training_prints_scores(run, tmp_path):
    settings = ("--set", "text.sources=[pairs/train.tsv]", "--set", "text.validation_sources=[pairs/test.tsv]")
    code, printed, messages = run("train", "text-pairs", "--out", tmp_path / "run", *SMALL, *settings)
    assert code == 0
    header, _, model, copy, nearest, *_ = printed.splitlines()
    assert header == "| target | exact match, % | BLEU | chrF |"
    assert model.startswith("| model | ")
    assert copy.startswith("| copy of the source | 0.00 | ")
    assert nearest.startswith("| target of the nearest training source | ")
    assert "are left out: 1." in messages
    assert (tmp_path / "run" / "predictions.jsonl").exists()
    # A complete run is evaluated again.
    assert run("train", "text-pairs", "--out", tmp_path / "run", *SMALL, *settings)[1] == printed


def test_test_pairs_are_scored(run, tmp_path):
    arguments = ("evaluate-lm", "texts", "run", "pairs/test.tsv", "--max-new-tokens", 8)
    code, printed, _ = run(*arguments, "--predictions", tmp_path / "predictions.jsonl", "--train", "pairs/train.tsv")
    assert code == 0
    assert [line.split(" | ")[0] for line in printed.splitlines()[2:5]] == [
        "| model",
        "| copy of the source",
        "| target of the nearest training source",
    ]
    assert printed.splitlines()[-1].endswith("are also training pairs, and 1 have the source of one.")
    lines = [json.loads(line) for line in (tmp_path / "predictions.jsonl").read_text().splitlines()]
    assert all(line.keys() == {"source", "targets", "prediction"} for line in lines)
    code, alone, _ = run(*arguments, "--checkpoint", 3)
    assert (code, len(alone.splitlines())) == (0, 4)


def test_columns_are_those_of_the_run(run, tmp_path):
    (tmp_path / "own.tsv").write_text(Path("pairs/test.tsv").read_text().replace("source\ttarget", "en\tde", 1))
    columns = ("--set", "objective.source_column=en", "--set", "objective.target_column=de")
    sources = ("--set", f"text.sources=[{tmp_path}/own.tsv]", "--set", "text.validation_fraction=0.5")
    assert run("train", "text-pairs", "--out", tmp_path / "run", *SMALL, *sources, *columns)[0] == 0
    assert run("evaluate-lm", "texts", tmp_path / "run", tmp_path / "own.tsv", "--max-new-tokens", 8)[0] == 0
    arguments = ("--source-column", "source", "--target-column", "target", "--max-new-tokens", 8)
    assert run("evaluate-lm", "texts", tmp_path / "run", "pairs/test.tsv", *arguments)[0] == 0


def test_prompts_are_scored(run, tmp_path):
    arguments = ("evaluate-lm", "prompts", "causal", "questions.tsv", "--template", "questions.yaml")
    code, printed, _ = run(*arguments)
    assert code == 0
    header, _, zero, majority, *_ = printed.splitlines()
    assert header == "| shots | accuracy, % | of each seed |"
    assert zero.startswith("| 0 | ")
    assert majority.startswith("| most frequent label | ")
    many = ("--train", "questions.tsv", "--shots", 0, "--shots", 2, "--seeds", 2)
    code, printed, _ = run(*arguments, *many)
    assert code == 0
    assert printed.splitlines()[2] == zero
    assert printed.splitlines()[3].count(",") == 1
    assert run(*arguments, *many)[1] == printed
    assert run("evaluate-lm", "prompts", "run", "questions.tsv", "--template", "questions.yaml")[0] == 0  # a T5


def test_mistakes_print_one_sentence(run, tmp_path):
    (tmp_path / "empty.tsv").write_text("source\ttarget\n")
    prompts = ("evaluate-lm", "prompts", "causal", "questions.tsv", "--template")
    for arguments, sentence in (
        (("evaluate-lm", "texts", "causal", "pairs/test.tsv"), "cannot generate text; use a model of t5"),
        (("evaluate-lm", "texts", "run", tmp_path / "empty.tsv"), "has no pairs of texts"),
        (("evaluate-lm", "texts", "run", "pairs/test.tsv", "--source-column", "en"), "names no column en"),
        (("evaluate-lm", "texts", "run", "questions.yaml"), "is not a table"),
        (("evaluate-lm", "texts", "run", "pairs/test.tsv", "--checkpoint", 4), "no checkpoint of step 4"),
        ((*prompts, "none"), "There is no prompt template 'none'"),
        ((*prompts, "trec"), "names no column label_coarse"),
        ((*prompts, "questions.yaml", "--shots", 1), "1 shots need as many training examples"),
        (
            (
                "train",
                "text-pairs",
                "--out",
                tmp_path / "out",
                "--set",
                "text.field=a",
            ),
            "`text.field` has no effect on pairs of texts",
        ),
        (
            ("train", "text-pairs", "--out", tmp_path / "out", "--set", "model.architecture=gpt2"),
            "TextPairs trains t5",
        ),
        (("study", "class-centers", "layers", "run", "--out", tmp_path / "layers"), "pairs of texts"),
    ):
        code, printed, messages = run(*arguments)
        assert (code, printed) == (2, ""), arguments
        assert sentence in messages, arguments
        assert messages.count("\n") == 1, messages

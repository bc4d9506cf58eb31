"""Output and errors of `bitcipher finetune`, on tasks that a tiny model learns in a second."""

import json
from functools import partial

import pytest
from tiny_tasks import write_model, write_task

QUICK = ("--set", "num_train_epochs=1", "--set", "loop.batch_size=16", "--set", "loop.device=cpu")


@pytest.fixture
def run(monkeypatch, tmp_path, run_command):
    monkeypatch.chdir(tmp_path)
    write_model(tmp_path / "model", "bert")
    write_task(tmp_path / "cola", "cola", 60)
    return partial(run_command, "finetune")


def test_scores_are_printed_and_stored(run, tmp_path):
    arguments = ("model", "--task", "cola", "--data", "cola", "--out", "out", *QUICK)
    code, printed, _ = run(*arguments)
    assert code == 0
    remark, score, baseline, location = printed.splitlines()
    assert remark.startswith("The model has no pooler")
    scores = json.loads((tmp_path / "out" / "predictions.json").read_text())["scores"]
    assert score == f"matthews {scores['matthews']:.2f} (main metric)"
    assert baseline == "Baseline most frequent label: matthews 0.00"
    assert str(tmp_path / "out") in location
    # The second call finds a finished run.
    before = (tmp_path / "out" / "metrics.jsonl").read_bytes()
    assert run(*arguments)[:2] == (0, printed)
    assert (tmp_path / "out" / "metrics.jsonl").read_bytes() == before
    code, _, error = run(*arguments, "--seed", 2)
    assert code == 2
    assert "holds a run with other options (seed 1 → 2)" in error


def test_random_init_and_vocabulary_change_the_run(run, tmp_path):
    (tmp_path / "words.txt").write_text("peter\nlondon\nthe\nhouse\nruns\nover\nblue\nhills\nand\nsees\n")
    code, printed, _ = run(
        *(
            "model",
            "--task",
            "cola",
            "--data",
            "cola",
            "--out",
            "out",
            *QUICK,
            "--random-init",
            "--vocabulary",
            "words.txt",
        )
    )
    assert code == 0
    assert "remain, in a vocabulary of 10 words" in printed
    assert "pooler" not in printed


def test_mistakes_print_one_sentence(run, tmp_path):
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "letter.txt").write_text("mine")
    here = ("--task", "cola", "--data", "cola", "--out")
    for arguments, sentence in (
        (("model", *here, "full"), "full is not empty, and does not hold a run with finetune.json"),
        (("cola", *here, "out"), "There is no tokenizer.json in"),
        (("model", "--task", "x", "--data", "cola", "--out", "out"), "`task` must be one of"),
        (("model", "--task", "squad", "--data", "cola", "--out", "out"), "one file train-v1.1….json"),
        (("model", *here, "out", "--set", "loop.stepss=3"), "no option `loop.stepss`"),
        (("model", *here, "out", "--set", "num_train_epochs"), "must be NAME=VALUE"),
        (
            ("model", *here, "out", "--set", "loop.batch_size=32", "--workers", 3),
            "3 workers cannot split a batch of 32",
        ),
    ):
        code, printed, error = run(*arguments)
        assert code == 2, arguments
        assert error.startswith("bitcipher: ")
        assert sentence in error
        assert error.count("\n") == 1
        assert printed == ""

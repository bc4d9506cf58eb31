"""Output and errors of `bitcipher finetune`, on tasks that a tiny model learns in a second."""

import json
import sys

import pytest
from tiny_tasks import write_model, write_task

from cluster.cli.main import main

QUICK = ("--set", "epochs=1", "--set", "loop.batch=16", "--set", "loop.device=cpu")


@pytest.fixture
def run(monkeypatch, capsys, tmp_path):
    monkeypatch.chdir(tmp_path)
    write_model(tmp_path / "model", "bert")
    write_task(tmp_path / "cola", "cola", 60)

    def call(*arguments: object) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["bitcipher", "finetune", *map(str, arguments)])
        with pytest.raises(SystemExit) as end:
            main()
        captured = capsys.readouterr()
        return end.value.code or 0, captured.out, captured.err

    return call


def test_scores_are_told_and_kept(run, tmp_path):
    arguments = ("model", "--task", "cola", "--data", "cola", "--out", "out", *QUICK)
    code, printed, _ = run(*arguments)
    assert code == 0
    remark, figure, baseline, where = printed.splitlines()
    assert remark.startswith("The model has no pooler")
    scores = json.loads((tmp_path / "out" / "predictions.json").read_text())["scores"]
    assert figure == f"matthews {scores['matthews']:.2f} (the task's figure)"
    assert baseline == "Without reading, by the commonest label: matthews 0.00"
    assert where.startswith(f"{tmp_path / 'out'} holds the run")
    # The second call finds a finished run.
    before = (tmp_path / "out" / "metrics.jsonl").read_bytes()
    assert run(*arguments)[:2] == (0, printed)
    assert (tmp_path / "out" / "metrics.jsonl").read_bytes() == before
    code, _, error = run(*arguments, "--seed", 2)
    assert code == 2
    assert "holds a run of other options" in error


def test_a_random_twin_and_a_vocabulary_can_be_asked_for(run, tmp_path):
    (tmp_path / "words.txt").write_text("peter\nlondon\nthe\nhouse\nruns\nover\nblue\nhills\nand\nsees\n")
    code, printed, _ = run(
        *("model", "--task", "cola", "--data", "cola", "--out", "out", *QUICK, "--random", "--vocabulary", "words.txt")
    )
    assert code == 0
    assert "remain, in a vocabulary of 10 words" in printed
    assert "pooler" not in printed


def test_mistakes_print_one_sentence(run, tmp_path):
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "letter.txt").write_text("mine")
    here = ("--task", "cola", "--data", "cola", "--out")
    for arguments, sentence in (
        (("model", *here, "full"), "full is not empty, and has no finetune.json of such a run"),
        (("cola", *here, "out"), "There is no tokenizer.json in"),
        (("model", "--task", "x", "--data", "cola", "--out", "out"), "There is no task 'x'"),
        (("model", "--task", "squad", "--data", "cola", "--out", "out"), "should hold one file train-v1.1….json"),
        (("model", *here, "out", "--set", "loop.stepss=3"), "Fine-tuning has an option loop.stepss"),
        (("model", *here, "out", "--set", "epochs"), "A setting is NAME=VALUE"),
        (("model", *here, "out", "--set", "loop.batch=32", "--workers", 3), "3 workers cannot share a batch of 32"),
        (("model", *here, "s3://bucket/out"), "takes a folder on a file system"),
    ):
        code, printed, error = run(*arguments)
        assert code == 2, arguments
        assert error.startswith("bitcipher: ")
        assert sentence in error
        assert error.count("\n") == 1
        assert printed == ""

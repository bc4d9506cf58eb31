"""`bitcipher study bit-cipher` for Figures 4 and 5, with tiny models."""

import pytest
import tiny_commands
from typer.testing import CliRunner

from cluster.cli.main import app
from training.loop.metrics_logger import read_metrics

pytestmark = pytest.mark.long


def run(*arguments):
    result = CliRunner().invoke(app, ["study", "bit-cipher", *map(str, arguments)])
    assert result.exit_code == 0, f"{result.output}\n{result.exception!r}"
    return result.stdout


def steps_of(run):
    return read_metrics(run)[-1]["step"]


def test_figure_4_trains_and_plots_every_init(tmp_path):
    corpus = tiny_commands.write_corpus(tmp_path / "corpus")
    width = ["--set", "model.hidden_size=128"]  # the paper's vectors have 128 bits
    line = ["figure-4", corpus, "--out", tmp_path / "out", "--seeds", 2, *tiny_commands.arguments_of(), *width]
    report = run(*line)
    names = ("random", "random-scaled", "wide-frozen", "wide", "near-frozen", "near", "best")
    assert all(f"| {name} | 2 |" in report for name in names)
    for name in names:
        assert (tmp_path / "out" / f"{name}-2" / "metrics.jsonl").exists()
    assert (tmp_path / "out" / "curves.png").read_bytes().startswith(b"\x89PNG")
    # A second call trains nothing and prints the same report.
    before = (tmp_path / "out" / "best-1" / "metrics.jsonl").read_bytes()
    assert run(*line) == report
    assert (tmp_path / "out" / "best-1" / "metrics.jsonl").read_bytes() == before


def test_figure_5_fine_tunes_each_model_with_both_embeddings(tmp_path):
    corpus = tiny_commands.write_corpus(tmp_path / "corpus")
    settings = ("text.tokenizer.kind=unigram", "text.tokenizer.vocab_size=100", "text.tokenizer.sentinels=10")
    tiny = tiny_commands.arguments_of((*tiny_commands.SETTINGS, *settings))
    longer = ("--set-pretraining", "loop.max_steps=9")
    report = run("figure-5", corpus, "--pretraining", corpus, "--out", tmp_path / "out", "--seeds", 1, *tiny, *longer)
    for model in ("roberta", "t5", "opt"):
        assert f"## {model}" in report
        assert steps_of(tmp_path / "out" / f"{model}-pretrained") == 9
        assert steps_of(tmp_path / "out" / model / "cipher-1") < 9
        assert (tmp_path / "out" / model / "curves.html").exists()
        assert (tmp_path / "out" / model / "cipher-1" / "embedding_init.json").exists()
        assert not (tmp_path / "out" / model / "ordinary-1" / "embedding_init.json").exists()

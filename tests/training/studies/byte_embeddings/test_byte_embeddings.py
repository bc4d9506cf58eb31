"""`bitcipher study byte-embeddings` with a tiny model of the recipe `next-sentence`."""

import pytest
import tiny_commands
from typer.testing import CliRunner

from cluster.cli.main import app
from training.studies.byte_embeddings.options import LOSSES
from training.studies.byte_embeddings.stored_embeddings import load_byte_embeddings


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("model")
    return tiny_commands.train(folder, folder / "run", recipe="next-sentence")


def invoke(*arguments):
    return CliRunner().invoke(app, list(map(str, arguments)))


@pytest.mark.smoke
def test_network_of_a_run_is_stored(run, tmp_path):
    command = ["study", "byte-embeddings", "align", run, "--out"]
    line = [*command, tmp_path / "bytes", "--set", "size=small", "--set", "epochs=1"]
    result = invoke(*line)
    assert result.exit_code == 0, f"{result.output}\n{result.exception!r}"
    assert load_byte_embeddings(str(tmp_path / "bytes")).embed(["unheard-of"]).shape == (1, 16)
    assert "already exists" in str(invoke(*line).exception)
    result = invoke(*command, tmp_path / "other", "--set", "loss=nosuch")
    assert "`loss` must be" in str(result.exception)
    assert not (tmp_path / "other").exists()


@pytest.mark.long
def test_all_losses_are_compared(run, tmp_path):
    text = run.parent / "corpus"
    line = ["study", "byte-embeddings", "table", run, "--text", text, "--out", tmp_path / "out", "--size", "small"]
    line += ["--set", "epochs=1", "--set", "batch_size=40", "--eval-sequences", "8"]
    reports = []
    for _ in range(2):  # the second call trains nothing
        result = invoke(*line)
        assert result.exit_code == 0, f"{result.output}\n{result.exception!r}"
        reports.append(result.stdout)
    assert reports[0] == reports[1] == (tmp_path / "out" / "table.md").read_text()
    names = [row.split("|")[1].strip() for row in reports[0].splitlines()[2:]]
    assert names == [
        "model",
        *(f"small, {loss}" for loss in LOSSES),
        "random vectors",
        "no model: most frequent answer",
    ]
    assert reports[0].count(" (p ") == 2 * (len(LOSSES) + 2)  # masked tokens and sentences
    for figure in ("p-values", "norms", "loss-surfaces", "pca"):
        assert (tmp_path / "out" / f"{figure}.png").read_bytes().startswith(b"\x89PNG")
    assert "other options" in str(invoke(*line, "--set", "epochs=2").exception)
    assert "no size 'huge'" in str(invoke(*line, "--size", "huge").exception)
    assert "with `--size` and `--loss`, not with `--set`" in str(invoke(*line, "--set", "loss=mse").exception)
    assert "no loss 'huge'" in str(invoke(*line, "--loss", "huge").exception)
    two = invoke(*line, "--loss", "mse", "--loss", "cosine", "--loss", "mse").stdout.splitlines()
    names = ("small, mse", "small, cosine")
    assert two == [row for row in reports[0].splitlines() if "small" not in row or any(map(row.count, names))]

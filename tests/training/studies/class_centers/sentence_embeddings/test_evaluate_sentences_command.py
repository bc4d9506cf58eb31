"""A tiny run of the recipe `simclr`, and its evaluation by command."""

import json

import numpy as np
import pytest
import tiny_commands
import tiny_tasks
import user_folder
from matplotlib.image import imread
from typer.testing import CliRunner

from bitcipher.errors import BitcipherError
from bitcipher.vectors.cipher_vectors import CipherVectors
from cluster.cli.main import app
from training.evaluation.decoding.stored_model import open_model
from training.studies.class_centers.sentence_embeddings.encoders import (
    check_encoder,
    encode_texts,
    with_random_weights,
)
from training.studies.class_centers.sentence_embeddings.sentence_figure import project_to_plane

pytestmark = pytest.mark.usefixtures("one_thread")


def run(*arguments):
    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    assert result.exit_code == 0, f"{result.output}\n{result.exception!r}"
    return result.output


@pytest.fixture(scope="module", params=["simclr", "vicreg"])
def trained(request, tmp_path_factory):
    """Return the folder of a tiny run of each objective."""
    folder = tmp_path_factory.mktemp("trained")
    changes = () if request.param == "simclr" else ("objective={name: vicreg}", "embeddings.init=cipher")
    return tiny_commands.train(folder, folder / "run", *changes, recipe="simclr")


def metrics_of(run):
    return [json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()]


def test_tiny_run_reports_invariance_and_regularization_apart(trained):
    evaluations = [line for line in metrics_of(trained) if "validation_loss" in line]
    assert [line["step"] for line in evaluations] == [0, 3, 6]
    for line in evaluations:
        assert line["validation_loss"] == pytest.approx(line["invariance_loss"] + line["regularization_loss"])
    assert evaluations[-1]["validation_loss"] != evaluations[0]["validation_loss"]


@pytest.mark.smoke
def test_command_writes_table_and_figure(trained, tmp_path):
    user_folder.write_labeled_sentences(tmp_path / "questions.jsonl")
    words = sorted({"the", "sees", "a", *user_folder.WORDS[:24]})
    rows = np.random.default_rng(0).normal(size=(len(words), 8)).astype(np.float32)
    CipherVectors(words, rows, counts=np.arange(len(words), 0, -1)).save(tmp_path / "vectors")
    options = ("--vectors", tmp_path / "vectors")
    printed = {}
    for out in ("one", "two"):
        printed[out] = run(
            *("study", "class-centers", "sentences"),
            trained,
            tmp_path / "questions.jsonl",
            "--out",
            tmp_path / out,
            *options,
        )
    table = (tmp_path / "one" / "sentences.md").read_text()
    assert table in printed["one"]
    names = [line.split("|")[1].strip() for line in table.splitlines()[2:] if line.startswith("|")]
    assert names == ["model", "random weights", "cipher vectors", "most frequent label"]
    assert imread(tmp_path / "one" / "sentences.png").shape[0] > 500
    for name in ("sentences.md", "sentences.png"):
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes()


def test_run_can_be_fine_tuned(trained, tmp_path):
    data = tiny_tasks.write_task(tmp_path / "cola", "cola", 20)
    settings = ("--set", "num_train_epochs=1", "--set", "loop.device=cpu")
    run("finetune", trained, "--task", "cola", "--data", data, "--out", tmp_path / "tuned", *settings)
    names = json.loads((tmp_path / "tuned" / "task.json").read_text())["new_weights"]
    assert names
    assert not any("layers" in name for name in names)


def test_embeddings_are_means_of_states_and_random_weights_differ(trained):
    model, tokenizer = open_model(str(trained))
    texts = ["the king sees a house", "the", "a queen sees the king and a house"]
    found = encode_texts(check_encoder(model), tokenizer, texts)
    for text, embedding in zip(texts, found, strict=True):
        np.testing.assert_allclose(encode_texts(model, tokenizer, [text])[0], embedding, atol=1e-5)
    random = [encode_texts(with_random_weights(model), tokenizer, texts) for _ in range(2)]
    np.testing.assert_array_equal(*random)
    assert not np.allclose(random[0], found, atol=1e-2)


def test_plane_keeps_clusters_apart():
    random = np.random.default_rng(0)
    rows = np.concatenate([random.normal(size=(40, 8)), random.normal(size=(40, 8)) + 20])
    points = project_to_plane(rows)
    assert points.shape == (80, 2)
    centers = points[:40].mean(0), points[40:].mean(0)
    nearest = [np.argmin([np.linalg.norm(point - center) for center in centers]) for point in points]
    assert nearest == [0] * 40 + [1] * 40
    np.testing.assert_array_equal(project_to_plane(rows), points)


def test_decoder_and_few_sentences_raise(tmp_path):
    with pytest.raises(BitcipherError, match="A gpt2 is no encoder"):
        check_encoder(open_model(str(tiny_tasks.write_model(tmp_path / "gpt2", "gpt2")))[0])

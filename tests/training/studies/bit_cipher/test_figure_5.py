"""Recipes of Figure 5: fine-tuning of a pre-trained model on another text, with its own or with cipher embeddings."""

import gzip
import json
import shutil

import pytest
import tiny_commands
import torch
import user_folder
from safetensors.torch import load_file
from typer.testing import CliRunner

from cluster.cli.main import app
from pipelines.tokenizers.tokenizer_json import load_tokenizer
from training.loop.checkpoint_folders import latest_checkpoint
from training.loop.metrics_logger import read_metrics
from training.models.checkpoint import load_model
from training.models.parts import input_embeddings

TOKENIZERS = {
    "roberta": (),
    "opt": (),
    "t5": ("text.tokenizer.kind=unigram", "text.tokenizer.vocab_size=100", "text.tokenizer.sentinels=10"),
}
CIPHER = "embeddings.build={mode: sum, summed: true, bits: 16, window: 4}"


@pytest.fixture(scope="module", params=TOKENIZERS)
def pretrained(request, tmp_path_factory):
    """Return a folder with a pre-training run of a model, and another text."""
    folder = tmp_path_factory.mktemp("figure") / request.param
    folder.mkdir()
    tiny_commands.train(
        folder, folder / "pretrained", *TOKENIZERS[request.param], recipe=f"figure-5-{request.param}-pretrain"
    )
    shutil.rmtree(folder / "corpus")
    words = user_folder.WORDS[:12]
    lines = [json.dumps({"text": " ".join(words[(i // 3**j) % 12] for j in range(40))}) for i in range(200)]
    (folder / "corpus").mkdir()
    (folder / "corpus" / "other.json.gz").write_bytes(gzip.compress("\n".join(lines).encode()))
    return folder


def fine_tune(folder, name, init, *settings):
    recipe = f"figure-5-{folder.name}-{init}"
    checkpoint = f"model.checkpoint={folder / 'pretrained'}"
    return tiny_commands.train(folder, folder / name, checkpoint, *settings, recipe=recipe)


def initial_loss(run):
    """Return the validation loss before the first step."""
    return read_metrics(run)[0]["validation_loss"]


def weights_of(run):
    return load_file(latest_checkpoint(run) / "model.safetensors")


@pytest.mark.smoke
def test_fine_tuning_with_own_and_with_cipher_embeddings(pretrained):
    ordinary = fine_tune(pretrained, "ordinary", "ordinary")
    cipher = fine_tune(pretrained, "cipher", "cipher", CIPHER)
    tokenizer, source = (
        load_tokenizer(str(folder / "tokenizer.json")) for folder in (ordinary, pretrained / "pretrained")
    )
    assert tokenizer.get_vocab() == source.get_vocab()
    assert initial_loss(ordinary) != initial_loss(cipher)
    assert json.loads((cipher / "embedding_init.json").read_text())["n_from_vectors"] > 5
    # A finished run is not trained again.
    before = (ordinary / "metrics.jsonl").read_bytes()
    fine_tune(pretrained, "ordinary", "ordinary")
    assert (ordinary / "metrics.jsonl").read_bytes() == before


def test_only_embeddings_or_only_other_weights_are_trained(pretrained):
    source = load_model(str(latest_checkpoint(pretrained / "pretrained")))
    table = next(n for n, weight in source.named_parameters() if weight is input_embeddings(source).weight)
    start = weights_of(pretrained / "pretrained")

    def changed(run):
        return {name for name, weight in weights_of(run).items() if not torch.equal(weight, start[name])}

    alone = changed(fine_tune(pretrained, "alone", "ordinary", "embeddings.train_embeddings_only=true"))
    assert alone == {table}
    rest = changed(fine_tune(pretrained, "rest", "ordinary", "embeddings.freeze_fraction=1"))
    assert table not in rest
    assert len(rest) > 5


def test_checkpoint_without_tokenizer_raises(tmp_path):
    corpus = tiny_commands.write_corpus(tmp_path / "corpus")
    result = CliRunner().invoke(
        app,
        [
            *("train", "figure-5-opt-ordinary", "--out", str(tmp_path / "run")),
            *("--set", f"text.sources=[{corpus}]", "--set", f"model.checkpoint={tmp_path}"),
        ],
    )
    assert "There is no tokenizer.json in" in str(result.exception)
    assert not (tmp_path / "run").exists()

"""Training of byte embeddings, and the model that uses them."""

import re
from pathlib import Path

import pytest
import torch
from tiny_runs import config_of, write_tiny_text
from tokenizers import Tokenizer
from tokenizers.models import WordLevel

from bitcipher.errors import BitcipherError
from training.data.token_streams import TokenDataset
from training.models.parts import input_embeddings
from training.runs.pretraining_run import make_training_run
from training.runs.recipe import Recipe
from training.studies import byte_embeddings
from training.studies.byte_embeddings import stored_embeddings
from training.studies.byte_embeddings.alignment import align, aligned_tokens
from training.studies.byte_embeddings.options import AlignmentOptions
from training.studies.byte_embeddings.stored_embeddings import (
    WEIGHTS,
    load_byte_embeddings,
    save_byte_embeddings,
    table_digest,
)
from training.studies.byte_embeddings.table_replacement import byte_table, replaced_input_embeddings

TOKENS = [f"{stem}{ending}" for stem in ("walk", "talk", "jump", "work") for ending in ("", "s", "ed", "ing")]
TABLE = torch.randn(len(TOKENS), 12, generator=torch.Generator().manual_seed(3)) + 0.5
QUICK = {"size": "small", "epochs": 12, "batch_size": 8, "device": "cpu"}


@pytest.fixture(scope="module")
def aligned():
    return align(TABLE, TOKENS, AlignmentOptions(**QUICK, loss="cosine"))


def cosines(vectors):
    return torch.nn.functional.cosine_similarity(vectors, TABLE)


def test_network_learns_the_vectors_of_the_table(aligned):
    untrained = align(TABLE, TOKENS, AlignmentOptions(**(QUICK | {"epochs": 1, "learning_rate": 1e-9})))
    assert cosines(untrained.embed(TOKENS)).mean() < 0.4
    assert cosines(aligned.embed(TOKENS)).mean() > 0.55


def test_vectors_of_an_angular_loss_have_the_mean_length_of_the_table(aligned):
    lengths = aligned.embed([*TOKENS, "never seen"]).norm(dim=1)
    assert torch.allclose(lengths, TABLE.norm(dim=1).mean().expand_as(lengths))
    assert align(TABLE, TOKENS, AlignmentOptions(**(QUICK | {"epochs": 1}), loss="mse")).length is None


def test_same_seed_gives_the_same_network(aligned):
    options = AlignmentOptions(**(QUICK | {"epochs": 2}))
    torch.manual_seed(5)  # of the caller, which must not matter
    first = align(TABLE, TOKENS, options)
    before = torch.random.get_rng_state()
    second = align(TABLE, TOKENS, options)
    assert torch.equal(torch.random.get_rng_state(), before)
    assert torch.equal(first.embed(TOKENS), second.embed(TOKENS))
    other = align(TABLE, TOKENS, options.copy_with(seed=2))
    assert not torch.equal(first.embed(TOKENS), other.embed(TOKENS))


def test_stored_network_gives_the_same_vectors(aligned, tmp_path):
    folder = tmp_path / "bytes"
    save_byte_embeddings(aligned, str(folder), table_digest(TOKENS, TABLE))
    assert torch.equal(load_byte_embeddings(str(folder)).embed(["walker"]), aligned.embed(["walker"]))
    content = bytearray((folder / WEIGHTS).read_bytes())
    content[len(content) // 2] ^= 1
    (folder / WEIGHTS).write_bytes(content)
    with pytest.raises(BitcipherError, match="damaged"):
        load_byte_embeddings(str(folder))
    with pytest.raises(BitcipherError, match="no byte embeddings"):
        load_byte_embeddings(str(tmp_path / "nosuch"))


def test_interrupted_writing_leaves_no_folder(aligned, tmp_path, monkeypatch):
    def interrupt(uri, values):
        raise KeyboardInterrupt

    monkeypatch.setattr(stored_embeddings.json_files, "write", interrupt)
    with pytest.raises(KeyboardInterrupt):
        save_byte_embeddings(aligned, str(tmp_path / "bytes"), table_digest(TOKENS, TABLE))
    assert not list(tmp_path.iterdir())


def test_loss_that_diverges_is_an_error():
    with pytest.raises(BitcipherError, match="no longer finite"):
        align(TABLE, TOKENS, AlignmentOptions(**QUICK, loss="mse", learning_rate=1e30))


def test_missing_gpu_is_an_error(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(BitcipherError, match="no GPU that torch can use; set `device` to auto or cpu"):
        align(TABLE, TOKENS, AlignmentOptions(**(QUICK | {"device": "cuda"})))


@pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no GPU")
def test_network_learns_on_a_gpu():
    aligned = align(TABLE, TOKENS, AlignmentOptions(**(QUICK | {"device": "cuda"}), loss="cosine"))
    assert cosines(aligned.embed(TOKENS)).mean() > 0.55


def test_one_token_cannot_be_aligned():
    with pytest.raises(BitcipherError, match="needs at least 2"):
        align(TABLE[:1], TOKENS[:1], AlignmentOptions(**QUICK))


def test_readme_has_all_options_and_defaults():
    readme = Path(byte_embeddings.__file__).with_name("README.md").read_text()
    rows = re.findall(r"^\| `(\w+)` \| (\S+) \|", readme.split("## Options")[1].split("\n## ")[0], re.MULTILINE)
    assert rows == [(name, str(value)) for name, value in AlignmentOptions().to_dict().items()]


def test_unused_tokens_are_left_out():
    tokenizer = Tokenizer(WordLevel({"[unused1]": 0, "b": 2, "a": 1, "[unused]": 3}, unk_token="a"))
    assert list(aligned_tokens(tokenizer).items()) == [("a", 1), ("b", 2), ("[unused]", 3)]


def test_model_reads_byte_embeddings_and_keeps_its_output_layer(tmp_path):
    text = TokenDataset.open(str(write_tiny_text(tmp_path / "text", kind="wordpiece")))
    model = {"architecture": "bert", "next_sentence": True, "dropout": 0.0}
    values = config_of(tmp_path / "run", tmp_path, model=model, objective={"name": "next_sentence"})["recipe"]
    model = make_training_run(Recipe.parse(values, "test"), text, None, tmp_path).model.eval()
    tokens = aligned_tokens(text.tokenizer)
    rows = input_embeddings(model).weight.detach().clone()
    embeddings = align(rows[list(tokens.values())], list(tokens), AlignmentOptions(**(QUICK | {"epochs": 1})))
    ids = torch.arange(12)[None]
    before = model(ids).prediction_logits
    with replaced_input_embeddings(model, byte_table(model, embeddings, tokens)):
        inside = model(ids).prediction_logits
        assert torch.equal(model.get_output_embeddings().weight, rows)
        assert torch.allclose(
            model.get_input_embeddings().weight[7], embeddings.embed([text.tokenizer.id_to_token(7)])[0]
        )
    assert not torch.allclose(inside, before)
    assert torch.equal(model(ids).prediction_logits, before)
    with replaced_input_embeddings(model, rows):
        assert torch.equal(model(ids).prediction_logits, before)

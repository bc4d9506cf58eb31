"""Pre-training runs: every objective with its architectures, and the files of a run."""

import json

import numpy as np
import pytest
from safetensors.torch import load_file
from tiny_runs import config_of, curve_of, write_tiny_text

from bitcipher.errors import BitcipherError
from bitcipher.files import json_files
from bitcipher.vectors.cipher_vectors import CipherVectors
from pipelines.tokenizers.tokenizer_json import load_tokenizer, vocab_size
from training.data.token_streams import TokenDataset
from training.loop.checkpoint_folders import latest_checkpoint
from training.models.checkpoint import load_model
from training.models.encoders import architecture_of
from training.models.options import ENCODERS
from training.models.parts import find_generator, input_embeddings
from training.objectives.registry import OBJECTIVES
from training.objectives.text_pairs import TextPairs
from training.runs.pretraining_run import run_pretraining
from training.runs.recipe import Recipe, read_recipe

pytestmark = pytest.mark.usefixtures("one_thread")

# Runs on pairs of texts are tested in `tests/training/evaluation/text_pairs`.
ON_TEXT = {name: kind for name, kind in OBJECTIVES.items() if kind is not TextPairs}
FITTING = [(name, architecture) for name, kind in ON_TEXT.items() for architecture in kind.architectures]
SHORT = {"max_steps": 3, "batch_size": 4, "eval_steps": 3, "save_steps": 3, "eval_sequences": 4}


@pytest.fixture(scope="module")
def texts(tmp_path_factory):
    """Return the folder of token shards by the kind of their tokenizer."""
    folder = tmp_path_factory.mktemp("texts")
    return {
        "bpe": write_tiny_text(folder / "bpe"),
        "wordpiece": write_tiny_text(folder / "wordpiece", kind="wordpiece"),
        "unigram": write_tiny_text(folder / "unigram", kind="unigram", sentinels=8),
    }


@pytest.fixture(scope="module")
def vectors(texts, tmp_path_factory):
    """Return a folder of vectors for the tokens of `bpe`."""
    tokenizer = TokenDataset.open(str(texts["bpe"])).tokenizer
    words = [tokenizer.id_to_token(token) for token in range(5, vocab_size(tokenizer))]
    rows = np.random.default_rng(0).normal(size=(len(words), 12))
    folder = tmp_path_factory.mktemp("vectors") / "vectors"
    CipherVectors(words, rows, counts=np.arange(len(words), 0, -1)).save(folder)
    return folder


def vocab_id(tokenizer, token):
    return tokenizer.get_vocab()[token]


def kind_for(architecture):
    return {"bert": "wordpiece", "t5": "unigram"}.get(architecture, "bpe")


def test_every_architecture_has_objective():
    assert FITTING == [
        ("masked", "bert"),
        ("masked", "roberta"),
        ("masked", "modernbert"),
        ("masked", "deberta"),
        ("causal", "gpt2"),
        ("causal", "opt"),
        ("span_corruption", "t5"),
        ("next_sentence", "bert"),
        ("next_sentence", "modernbert"),
        ("replaced_tokens", "bert"),
        ("replaced_tokens", "roberta"),
        ("replaced_tokens", "modernbert"),
        ("replaced_tokens", "deberta"),
        *((name, architecture) for name in ("simclr", "vicreg") for architecture in ENCODERS),
    ]


@pytest.mark.parametrize(("objective", "architecture"), FITTING)
def test_objective_trains_architecture(objective, architecture, texts, tmp_path):
    model = {"architecture": architecture, "next_sentence": objective == "next_sentence"}
    model |= {"generator_layers": 1} if objective == "replaced_tokens" else {}
    model |= {"projector_size": 4} if objective in ("simclr", "vicreg") else {}
    text = texts[kind_for(architecture)]
    config = config_of(tmp_path / "run", text, model=model, objective={"name": objective}, loop=SHORT)
    run_pretraining(config)
    lines = curve_of(tmp_path / "run")
    assert [line["step"] for line in lines] == [0, 1, 2, 3, 3]
    assert all(np.isfinite(line[name]) for line in lines for name in ("loss", "validation_loss") if name in line)
    assert all(line["grad_norm"] > 0 for line in lines if "loss" in line)
    assert lines[-1]["validation_loss"] != lines[0]["validation_loss"]
    trained = load_model(str(latest_checkpoint(tmp_path / "run")))
    assert architecture_of(find_generator(trained).base_model.config) == architecture


def test_projected_roberta_with_cipher_init(texts, vectors, tmp_path):
    model = {"architecture": "roberta", "embedding_size": 6, "tie_word_embeddings": False}
    shared = {"objective": {"name": "masked"}, "loop": SHORT}
    start = {"init": "cipher", "output_bias": True}
    run_pretraining(config_of(tmp_path / "cipher", texts["bpe"], vectors, model=model, embeddings=start, **shared))
    trained = load_model(str(latest_checkpoint(tmp_path / "cipher")))
    assert input_embeddings(trained).weight.shape[1] == 6
    assert json.loads((tmp_path / "cipher" / "embedding_init.json").read_text())["vector_size"] == 12
    model["checkpoint"] = str(tmp_path / "cipher")
    run_pretraining(config_of(tmp_path / "on", texts["bpe"], model=model, **shared))
    end, begin = (curve_of(tmp_path / name)[at]["validation_loss"] for name, at in (("cipher", -1), ("on", 0)))
    assert begin == pytest.approx(end, rel=1e-6)


@pytest.mark.parametrize("objective", ["masked", "next_sentence"])
@pytest.mark.parametrize("kind", ["bpe", "unigram"])  # WordPiece splits none of these few words
def test_whole_word_mask_changes_run(objective, kind, texts, tmp_path):
    model = {"architecture": "bert", "next_sentence": objective == "next_sentence"}
    curves = {}
    for whole in (True, False):
        folder = tmp_path / str(whole)
        options = {"name": objective, "whole_word_mask": whole}
        run_pretraining(config_of(folder, texts[kind], model=model, objective=options, loop=SHORT))
        curves[whole] = curve_of(folder)
    assert curves[True] != curves[False]


def test_run_folder_has_recipe_and_tokenizer(texts, tmp_path):
    config = config_of(tmp_path / "run", texts["bpe"], loop=SHORT)
    run_pretraining(config)
    assert read_recipe(str(tmp_path / "run" / "recipe.yaml")) == Recipe.parse(config["recipe"], "test")
    stored, own = (
        load_tokenizer(str(tmp_path / "run" / "tokenizer.json")),
        TokenDataset.open(str(texts["bpe"])).tokenizer,
    )
    # With the special tokens that the model reads, for transformers.
    stored_values, own_values = (json.loads(each.to_str()) for each in (stored, own))
    assert stored_values | {"post_processor": None} == own_values | {"post_processor": None}
    assert stored.encode("the cat").ids == [vocab_id(own, "</s>"), *own.encode("the cat").ids]
    assert not (tmp_path / "run" / "embedding_init.json").exists()  # random


def test_embedding_init_report(texts, vectors, tmp_path):
    start = {"init": "cipher", "scale": 2.0}
    run_pretraining(config_of(tmp_path / "run", texts["bpe"], vectors, embeddings=start, loop=SHORT))
    output = json_files.read(str(tmp_path / "run" / "embedding_init.json"))
    size = vocab_size(TokenDataset.open(str(texts["bpe"])).tokenizer)
    assert (output["n_from_vectors"], output["n_random"], output["vector_size"]) == (size - 5, 5, 12)
    assert output["rms"] == pytest.approx(2 * 0.02, rel=0.1)  # GPT-2's initial standard deviation is 0.02
    assert set(output) == {"n_from_vectors", "n_random", "vector_size", "rms"}


def trained(folder):
    """Return the names of the weights that three steps changed."""
    first, last = (load_file(folder / "checkpoints" / step / "model.safetensors") for step in ("00000001", "00000003"))
    return {name for name in first if not np.array_equal(first[name], last[name])}


def test_train_embeddings_only_and_frozen_embeddings(texts, vectors, tmp_path):
    loop = SHORT | {"save_steps": 1, "warmup_steps": 0.0}
    changed = {}
    for name, how in (("all", {}), ("table", {"train_embeddings_only": True}), ("others", {"freeze_fraction": 1.0})):
        embeddings = {"init": "cipher", **how}
        run_pretraining(config_of(tmp_path / name, texts["bpe"], vectors, embeddings=embeddings, loop=loop))
        changed[name] = trained(tmp_path / name)
    assert changed["table"] == {"transformer.wte.weight"}
    assert changed["others"] == changed["all"] - changed["table"]


def test_run_starts_from_checkpoint_of_other_run(texts, tmp_path):
    run_pretraining(config_of(tmp_path / "first", texts["bpe"], loop=SHORT))
    model = {"checkpoint": str(tmp_path / "first")}
    run_pretraining(config_of(tmp_path / "second", texts["bpe"], model=model, loop=SHORT, seed=2))
    end, begin = (curve_of(tmp_path / name)[at]["validation_loss"] for name, at in (("first", -1), ("second", 0)))
    assert begin == pytest.approx(end, rel=1e-6)


def test_incompatible_inputs_raise(texts, vectors, tmp_path):
    cases = [
        ({"model": {"architecture": "t5"}, "objective": {"name": "span_corruption"}}, "bpe", None, "sentinels"),
        ({"model": {"max_position_embeddings": 10**6}}, "bpe", None, "fewer than one sequence"),
        ({"embeddings": {"init": "cipher"}}, "wordpiece", vectors, "words with vectors are tokens"),
        ({"embeddings": {"init": "cipher"}}, "bpe", tmp_path / "nothing", "nothing"),
    ]
    for number, (changed, kind, given, sentence) in enumerate(cases):
        with pytest.raises(BitcipherError, match=sentence) as error:
            run_pretraining(config_of(tmp_path / str(number), texts[kind], given, **changed))
        assert "\n" not in str(error.value)

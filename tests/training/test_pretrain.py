"""Runs of recipes: every objective with every architecture that it fits, and what a run's folder says of its start."""

import json

import numpy as np
import pytest
from safetensors.torch import load_file
from tiny_runs import config_of, curve_of, write_tiny_text

from bitcipher.errors import BitcipherError
from bitcipher.vectors import CipherVectors
from training.data import TokenText, load_tokenizer, vocabulary_size
from training.loop import checkpoint_of
from training.models import input_embeddings, load_model
from training.objectives import OBJECTIVES
from training.pretrain import pretrain
from training.recipe import make_recipe, read_recipe

pytestmark = pytest.mark.usefixtures("one_thread")

FITTING = [(name, architecture) for name, kind in OBJECTIVES.items() for architecture in kind.families]
SHORT = {"steps": 3, "batch": 4, "evaluate_every": 3, "checkpoint_every": 3, "evaluate_sequences": 4}


@pytest.fixture(scope="module")
def texts(tmp_path_factory):
    """Token shards by the kind of their tokenizer, as the architectures have them."""
    folder = tmp_path_factory.mktemp("texts")
    return {
        "bpe": write_tiny_text(folder / "bpe"),
        "wordpiece": write_tiny_text(folder / "wordpiece", kind="wordpiece"),
        "unigram": write_tiny_text(folder / "unigram", kind="unigram", sentinels=8),
    }


@pytest.fixture(scope="module")
def vectors(texts, tmp_path_factory):
    """A folder of vectors for the tokens of `bpe`."""
    tokenizer = TokenText.open(str(texts["bpe"])).tokenizer
    words = [tokenizer.id_to_token(token) for token in range(5, vocabulary_size(tokenizer))]
    rows = np.random.default_rng(0).normal(size=(len(words), 12))
    folder = tmp_path_factory.mktemp("vectors") / "vectors"
    CipherVectors(words, rows, counts=np.arange(len(words), 0, -1)).save(folder)
    return folder


def kind_for(architecture):
    return {"bert": "wordpiece", "t5": "unigram"}.get(architecture, "bpe")


def test_every_architecture_has_an_objective():
    assert FITTING == [
        ("masked", "bert"),
        ("masked", "roberta"),
        ("causal", "gpt2"),
        ("causal", "opt"),
        ("span_corruption", "t5"),
        ("next_sentence", "bert"),
    ]


@pytest.mark.parametrize(("objective", "architecture"), FITTING)
def test_an_objective_trains_what_it_fits(objective, architecture, texts, tmp_path):
    model = {"architecture": architecture, "next_sentence": objective == "next_sentence"}
    text = texts[kind_for(architecture)]
    config = config_of(tmp_path / "run", text, model=model, objective={"name": objective}, loop=SHORT)
    pretrain(config)
    lines = curve_of(tmp_path / "run")
    assert [line["step"] for line in lines] == [0, 1, 2, 3, 3]
    assert all(np.isfinite(line[name]) for line in lines for name in ("loss", "validation_loss") if name in line)
    assert all(line["gradient"] > 0 for line in lines if "loss" in line)
    assert lines[-1]["validation_loss"] != lines[0]["validation_loss"]
    assert load_model(str(checkpoint_of(tmp_path / "run"))).config.model_type == architecture


def test_a_roberta_of_narrow_rows_starts_from_vectors_and_goes_on_from_its_checkpoint(texts, vectors, tmp_path):
    model = {"architecture": "roberta", "embedding": 6, "tied": False}
    shared = {"objective": {"name": "masked"}, "loop": SHORT}
    start = {"start": "cipher", "output_bias": True}
    pretrain(config_of(tmp_path / "warm", texts["bpe"], vectors, model=model, embeddings=start, **shared))
    trained = load_model(str(checkpoint_of(tmp_path / "warm")))
    assert input_embeddings(trained).weight.shape[1] == 6
    assert json.loads((tmp_path / "warm" / "start.json").read_text())["dimensions"] == 12
    model["checkpoint"] = str(tmp_path / "warm")
    pretrain(config_of(tmp_path / "on", texts["bpe"], model=model, **shared))
    end, begin = (curve_of(tmp_path / name)[at]["validation_loss"] for name, at in (("warm", -1), ("on", 0)))
    assert begin == pytest.approx(end, rel=1e-6)


@pytest.mark.parametrize("objective", ["masked", "next_sentence"])
@pytest.mark.parametrize("kind", ["bpe", "unigram"])  # WordPiece cuts none of these few words
def test_whole_words_are_hidden_if_asked_for(objective, kind, texts, tmp_path):
    model = {"architecture": "bert", "next_sentence": objective == "next_sentence"}
    curves = {}
    for whole in (True, False):
        folder = tmp_path / str(whole)
        options = {"name": objective, "whole_words": whole}
        pretrain(config_of(folder, texts[kind], model=model, objective=options, loop=SHORT))
        curves[whole] = curve_of(folder)
    assert curves[True] != curves[False]


def test_a_runs_folder_says_what_it_was_made_of(texts, tmp_path):
    config = config_of(tmp_path / "run", texts["bpe"], loop=SHORT)
    pretrain(config)
    assert read_recipe(str(tmp_path / "run" / "recipe.yaml")) == make_recipe(config["recipe"], "test")
    tokenizer = load_tokenizer(str(tmp_path / "run" / "tokenizer.json"))
    assert tokenizer.to_str() == TokenText.open(str(texts["bpe"])).tokenizer.to_str()
    assert not (tmp_path / "run" / "start.json").exists()  # cold


def test_a_warm_start_is_told(texts, vectors, tmp_path):
    start = {"start": "cipher", "scale": 2.0}
    pretrain(config_of(tmp_path / "run", texts["bpe"], vectors, embeddings=start, loop=SHORT))
    told = json.loads((tmp_path / "run" / "start.json").read_text())
    size = vocabulary_size(TokenText.open(str(texts["bpe"])).tokenizer)
    assert (told["known"], told["cold"], told["dimensions"]) == (size - 5, 5, 12)
    assert told["scale"] == pytest.approx(2 * 0.02, rel=0.1)  # GPT-2's rows begin with 0.02
    assert set(told) == {"known", "cold", "dimensions", "scale"}


def trained(folder):
    """The names of the weights that three steps changed."""
    first, last = (load_file(folder / "checkpoints" / step / "model.safetensors") for step in ("00000001", "00000003"))
    return {name for name in first if not np.array_equal(first[name], last[name])}


def test_the_table_alone_and_all_but_the_table_are_trained(texts, vectors, tmp_path):
    loop = SHORT | {"checkpoint_every": 1, "warmup": 0.0}
    changed = {}
    for name, how in (("all", {}), ("table", {"alone": True}), ("others", {"frozen": 1.0})):
        embeddings = {"start": "cipher", **how}
        pretrain(config_of(tmp_path / name, texts["bpe"], vectors, embeddings=embeddings, loop=loop))
        changed[name] = trained(tmp_path / name)
    assert changed["table"] == {"transformer.wte.weight"}
    assert changed["others"] == changed["all"] - changed["table"]


def test_a_run_starts_from_the_newest_checkpoint_of_another(texts, tmp_path):
    pretrain(config_of(tmp_path / "first", texts["bpe"], loop=SHORT))
    model = {"checkpoint": str(tmp_path / "first")}
    pretrain(config_of(tmp_path / "second", texts["bpe"], model=model, loop=SHORT, seed=2))
    end, begin = (curve_of(tmp_path / name)[at]["validation_loss"] for name, at in (("first", -1), ("second", 0)))
    assert begin == pytest.approx(end, rel=1e-6)


def test_what_does_not_fit_is_a_sentence(texts, vectors, tmp_path):
    cases = [
        ({"model": {"architecture": "t5"}, "objective": {"name": "span_corruption"}}, "bpe", None, "sentinels"),
        ({"model": {"positions": 10**6}}, "bpe", None, "give more text, or choose fewer positions"),
        ({"embeddings": {"start": "cipher"}}, "wordpiece", vectors, "words that have vectors are tokens of the"),
        ({"embeddings": {"start": "cipher"}}, "bpe", tmp_path / "nothing", "nothing"),
    ]
    for number, (changed, kind, given, sentence) in enumerate(cases):
        with pytest.raises(BitcipherError, match=sentence) as error:
            pretrain(config_of(tmp_path / str(number), texts[kind], given, **changed))
        assert "\n" not in str(error.value)

from types import SimpleNamespace

import pytest
import torch
from tiny_tasks import write_model

from bitcipher.errors import BitcipherError
from training.data import load_tokenizer, special_tokens, vocabulary_size
from training.finetune.heads import positions_of, task_model
from training.models import ARCHITECTURES, load_model
from training.models.checkpoint import read_config

KINDS = ("classification", "regression", "question-answering", "token-classification")


def task_of(kind):
    return SimpleNamespace(kind=kind, labels=("a", "b", "c"))


def made_of(folder, kind, seed=1, **changes):
    tokenizer = load_tokenizer(str(folder / "tokenizer.json"))
    size = changes.pop("vocabulary", vocabulary_size(tokenizer))
    return task_model(str(folder), task_of(kind), special_tokens(tokenizer), size, seed, **changes)


NARROW = "roberta of narrow rows"


@pytest.fixture(scope="module", params=[*ARCHITECTURES, NARROW])
def folder(request, tmp_path_factory):
    changed = {"tied": False, "embedding": 12} if request.param == NARROW else {}
    return write_model(tmp_path_factory.mktemp("models") / "model", request.param.split()[0], **changed)


def architecture_of(folder):
    return read_config(str(folder)).model_type


def kinds_of(folder):
    return [kind for kind in KINDS if kind != "token-classification" or architecture_of(folder) != "opt"]


def test_the_pre_trained_weights_are_the_same_to_the_bit(folder):
    source = {name: weight for name, weight in load_model(str(folder)).base_model.named_parameters()}
    for kind in kinds_of(folder):
        made = made_of(folder, kind)
        below = dict(made.model.base_model.named_parameters())
        kept = below.keys() & source.keys()
        assert all(torch.equal(below[name], source[name]) for name in kept)
        assert len(kept) + len(made.new) == len(list(made.model.parameters()))


def test_only_heads_and_poolers_are_new(folder):
    new = {name for kind in kinds_of(folder) for name in made_of(folder, kind).new}
    parts = {name.removeprefix("bert.").split(".")[0] for name in new}
    assert parts <= {"classifier", "score", "qa_outputs", "classification_head", "pooler"}
    assert ("pooler" in parts) == (architecture_of(folder) == "bert")


def test_a_head_depends_on_the_seed_alone(folder):
    for kind in kinds_of(folder):
        torch.manual_seed(1)
        first = made_of(folder, kind)
        drawn = torch.rand(1)
        torch.manual_seed(1)
        assert torch.equal(torch.rand(1), drawn)  # the caller's numbers go on as before
        torch.manual_seed(2)
        same, other = made_of(folder, kind).model.state_dict(), made_of(folder, kind, seed=2).model.state_dict()
        own = first.model.state_dict()
        assert all(torch.equal(own[name], same[name]) for name in own)
        matrices = [name for name in first.new if own[name].ndim == 2]
        assert matrices
        assert not any(torch.equal(own[name], other[name]) for name in matrices)


def test_a_random_twin_shares_all_but_the_weights(folder):
    for kind in kinds_of(folder):
        made, twin = made_of(folder, kind), made_of(folder, kind, random=True)
        assert twin.model.config.to_dict() == made.model.config.to_dict()
        own, random = made.model.state_dict(), twin.model.state_dict()
        assert {name: weight.shape for name, weight in own.items()} == {n: w.shape for n, w in random.items()}
        assert set(twin.new) == {name for name, _ in twin.model.named_parameters()}
        assert all(torch.equal(own[name], random[name]) for name in made.new)
        matrices = [name for name in twin.new if name not in made.new and own[name].ndim == 2]
        assert not any(torch.equal(own[name], random[name]) for name in matrices)


def test_a_model_says_how_long_its_rows_are(folder):
    assert positions_of(made_of(folder, "classification").model.config) == (
        None if architecture_of(folder) == "t5" else 32
    )


def test_a_pooler_that_was_trained_is_kept(tmp_path):
    folder = write_model(tmp_path / "model", "bert", next_sentence=True)
    made = made_of(folder, "classification")
    assert made.new == ("classifier.weight", "classifier.bias")
    assert torch.equal(made.model.bert.pooler.dense.weight, load_model(str(folder)).bert.pooler.dense.weight)


def test_untied_models_have_one_table_under_a_head(tmp_path):
    model = made_of(write_model(tmp_path / "model", "t5", tied=False), "classification").model
    assert model.transformer.decoder.embed_tokens.weight is model.transformer.encoder.embed_tokens.weight


def test_what_cannot_be_is_a_plain_sentence(tmp_path):
    opt, roberta = (write_model(tmp_path / kind, kind) for kind in ("opt", "roberta"))
    with pytest.raises(BitcipherError, match="transformers has no model of the kind opt for token-classification"):
        made_of(opt, "token-classification")
    with pytest.raises(BitcipherError, match=r"knows .* tokens, and its tokenizer.json has 500"):
        made_of(roberta, "classification", vocabulary=500)
    specials = special_tokens(load_tokenizer(str(roberta / "tokenizer.json")))
    with pytest.raises(BitcipherError, match=r"pads with token 0, and its tokenizer\.json with token 3"):
        task_model(str(roberta), task_of("regression"), specials.__class__(3, 1, 2, 3, 4, ()), 60, 1)

"""Generator and discriminator: storage, the encoder that is fine-tuned, and cipher starts."""

import json
from itertools import product

import numpy as np
import pytest
import torch
from tiny_models import SPECIALS, TINY, VOCABULARY, batch_of

from bitcipher.errors import BitcipherError
from training.loop.optimizer import make_optimizer
from training.loop.options import LoopOptions
from training.models.build import build_model
from training.models.checkpoint import load_model, save_model
from training.models.embeddings.embedding_table import TokenEmbeddings
from training.models.embeddings.initialize import init_embeddings
from training.models.embeddings.options import EmbeddingInitOptions
from training.models.options import ModelOptions
from training.models.parts import freeze_all_but_embeddings, input_embeddings, is_tied, set_embeddings_frozen
from training.models.replaced_tokens import extract_discriminator

CASES = [*product(("bert", "roberta", "modernbert", "deberta"), ("es", "nes", "gdes"))]
every_case = pytest.mark.parametrize(("architecture", "sharing"), CASES)


def pair_of(architecture: str, sharing: str):
    options = TINY.copy_with(architecture=architecture, generator_layers=1, embedding_sharing=sharing)
    return build_model(options, SPECIALS, VOCABULARY, 1)


def randomize(model):
    with torch.no_grad():
        for weight in model.parameters():
            weight.add_(torch.randn_like(weight) * 0.1)
    return model.eval()


@every_case
def test_pair_survives_storage(architecture, sharing, tmp_path):
    model, ids = randomize(pair_of(architecture, sharing)), batch_of("roberta")["input_ids"]
    save_model(model, str(tmp_path))
    loaded = load_model(str(tmp_path))
    assert torch.equal(loaded.detect(ids), model.detect(ids))
    assert torch.equal(loaded.generator(ids).logits, model.generator(ids).logits)
    assert is_tied(loaded)
    assert loaded.state_dict().keys() == model.state_dict().keys()
    assert loaded.config.part("generator").num_hidden_layers == 1
    assert loaded.config.part("discriminator").num_hidden_layers == 2


@every_case
def test_discriminator_alone_has_the_summed_table(architecture, sharing):
    model, ids = randomize(pair_of(architecture, sharing)), batch_of("roberta")["input_ids"]
    encoder = extract_discriminator(model)
    hidden = encoder(input_ids=ids).last_hidden_state
    detected = model.detector["output"](torch.nn.functional.gelu(model.detector["dense"](hidden))).squeeze(-1)
    torch.testing.assert_close(detected, model.detect(ids))
    table = encoder.get_input_embeddings().weight
    generator = input_embeddings(model).weight
    if sharing == "es":
        assert torch.equal(table, generator)
    if sharing == "gdes":
        assert torch.equal(table, generator + model.discriminator.get_input_embeddings().weight)


def test_new_pair_has_equal_tables_and_random_layers():
    tables = [
        extract_discriminator(pair_of("bert", sharing)).get_input_embeddings().weight for sharing in ("es", "nes")
    ]
    assert torch.equal(*tables)
    difference = pair_of("bert", "gdes").discriminator.get_input_embeddings().weight
    assert not difference.any()
    dense = pair_of("modernbert", "gdes").detector["dense"]
    assert dense.weight.std().item() == pytest.approx(16**-0.5, rel=0.2)
    assert not dense.bias.any()


@pytest.mark.parametrize("sharing", ["es", "nes", "gdes"])
def test_cipher_start_reaches_both_models(sharing):
    model = pair_of("roberta", sharing)
    rows = np.random.default_rng(0).normal(size=(VOCABULARY, 16)).astype(np.float32)
    has_vector = np.arange(VOCABULARY) >= 9
    init_embeddings(model, TokenEmbeddings(rows, has_vector, None), EmbeddingInitOptions(init="cipher"))
    generator, discriminator = input_embeddings(model).weight, model.discriminator_table()
    assert torch.equal(generator, discriminator)
    assert np.corrcoef(generator[9:].detach().numpy().ravel(), (rows[9:] - rows[9:].mean(0)).ravel())[0, 1] > 0.999


@pytest.mark.parametrize(("sharing", "tables"), [("es", 1), ("nes", 2), ("gdes", 2)])
def test_all_tables_of_tokens_are_frozen_and_have_the_rate_of_embeddings(sharing, tables):
    model = pair_of("modernbert", sharing)
    names = {name for name, _ in model.named_parameters() if "tok_embeddings" in name}
    assert len(names) == tables

    def trained():
        return {name for name, weight in model.named_parameters() if weight.requires_grad}

    everything = trained()
    set_embeddings_frozen(model, True)
    assert trained() == everything - names
    set_embeddings_frozen(model, False)
    assert trained() == everything
    optimizer = make_optimizer(model, LoopOptions(learning_rate=0.5), 0.1)
    rates = {weight: group["lr"] for group in optimizer.param_groups for weight in group["params"]}
    assert {name for name, weight in model.named_parameters() if rates[weight] == 0.05} == names
    freeze_all_but_embeddings(model)
    assert trained() == names


def test_invalid_options_and_folders_raise(tmp_path):
    for values, fact in (
        ({"architecture": "gpt2"}, "needs bert, roberta, modernbert, deberta; leave it out for gpt2"),
        ({"architecture": "bert", "next_sentence": True}, "`model.next_sentence` exclude each other"),
        ({"checkpoint": "run"}, "`model.checkpoint` exclude each other"),
    ):
        with pytest.raises(BitcipherError, match=fact):
            ModelOptions.parse({"generator_layers": 1, **values}, "recipe")
    save_model(pair_of("bert", "gdes"), str(tmp_path))
    stored = json.loads((tmp_path / "config.json").read_text())
    for changed in ({"generator": None}, {"discriminator": {"model_type": "gpt2"}}, {"generator": {"model_type": [1]}}):
        (tmp_path / "config.json").write_text(json.dumps(stored | changed))
        with pytest.raises(
            BitcipherError,
            match=r"the model_type of the (generator|discriminator) must be one of bert, roberta",
        ):
            load_model(str(tmp_path))

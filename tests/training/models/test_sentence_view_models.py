"""An encoder with a projector: storage, starts, and the embedding of a sentence."""

import numpy as np
import pytest
import torch
from tiny_models import SPECIALS, TINY, VOCABULARY, batch_of, model_of

from bitcipher.errors import BitcipherError
from training.models.build import build_model
from training.models.checkpoint import load_model, save_model
from training.models.embeddings.embedding_table import TokenEmbeddings
from training.models.embeddings.initialize import init_embeddings
from training.models.embeddings.options import EmbeddingInitOptions
from training.models.options import ENCODERS, ModelOptions
from training.models.parts import hidden_states, input_embeddings
from training.models.sentence_views import embed_sentences


def model_with_projector(architecture="roberta", **changed):
    return build_model(TINY.copy_with(architecture=architecture, projector_size=6, **changed), SPECIALS, VOCABULARY, 1)


def sentences():
    ids = batch_of("roberta")["input_ids"]
    mask = torch.ones_like(ids)
    mask[1, 5:] = 0
    return {"input_ids": ids * mask, "attention_mask": mask}


@pytest.mark.parametrize("architecture", ENCODERS)
def test_model_survives_storage(architecture, tmp_path):
    model, batch = model_with_projector(architecture).eval(), sentences()
    save_model(model, str(tmp_path))
    loaded = load_model(str(tmp_path))
    assert loaded.state_dict().keys() == model.state_dict().keys()
    projections = model.project(batch)
    assert projections.shape == (3, 6)
    assert torch.equal(loaded.project(batch), projections)


@pytest.mark.parametrize("architecture", ENCODERS)
def test_encoder_is_that_of_a_language_model_of_the_seed_or_of_a_checkpoint(architecture, tmp_path):
    random = model_of(architecture)
    first = model_with_projector(architecture)
    assert torch.equal(input_embeddings(first).weight, input_embeddings(random).weight)
    save_model(model_of(architecture, seed=2), str(tmp_path))
    started, stored = model_with_projector(architecture, checkpoint=str(tmp_path)), load_model(str(tmp_path))
    for name, weight in stored.base_model.state_dict().items():
        assert torch.equal(started.encoder.state_dict()[name], weight)
    assert torch.equal(started.projector[0].weight, first.projector[0].weight)
    assert started.training


@pytest.mark.parametrize("architecture", ENCODERS)
def test_embedding_is_the_mean_of_the_states_of_tokens(architecture):
    model, batch = model_with_projector(architecture).eval(), sentences()
    states, found = hidden_states(model, batch), embed_sentences(model, batch)
    torch.testing.assert_close(found[0], states[0].mean(0))
    torch.testing.assert_close(found[1], states[1, :5].mean(0))
    short = {name: values[1:2, :5] for name, values in batch.items()}
    torch.testing.assert_close(embed_sentences(model, short)[0], found[1])


def test_cipher_start():
    model = model_with_projector()
    rows = np.random.default_rng(0).normal(size=(VOCABULARY, 16)).astype(np.float32)
    options = EmbeddingInitOptions(init="cipher", output_bias=True)  # without an output, it has no effect
    init_embeddings(model, TokenEmbeddings(rows, np.arange(VOCABULARY) >= 9, np.arange(VOCABULARY)), options)
    table = input_embeddings(model).weight[9:].detach().numpy()
    assert np.corrcoef(table.ravel(), (rows[9:] - rows[9:].mean(0)).ravel())[0, 1] > 0.999


def test_invalid_options_raise():
    for values, fact in (
        ({"architecture": "gpt2"}, "`model.projector_size` needs bert, roberta, modernbert, deberta"),
        ({"architecture": "bert", "next_sentence": True}, "`model.projector_size` and `model.next_sentence` exclude"),
        ({"generator_layers": 1}, "`model.projector_size` and `model.generator_layers` exclude"),
    ):
        with pytest.raises(BitcipherError, match=fact):
            ModelOptions.parse({"projector_size": 8, **values}, "recipe")

import dataclasses

import pytest
import torch
from tiny_models import KINDS, LENGTH, SPECIALS, VOCABULARY, batch_of, model_of, options_of

from bitcipher.errors import BitcipherError
from training.models import build_model, hidden_states, input_embeddings, is_tied, logits, save_model


@pytest.mark.parametrize("kind", KINDS)
def test_a_seed_makes_a_model_and_leaves_other_random_numbers_alone(kind):
    torch.manual_seed(5)
    expected = torch.rand(3)
    torch.manual_seed(5)
    first = model_of(kind, seed=1)
    assert torch.equal(torch.rand(3), expected)
    again, other = model_of(kind, seed=1), model_of(kind, seed=2)
    for (name, one), two in zip(first.state_dict().items(), again.state_dict().values(), strict=True):
        assert torch.equal(one, two), name
    assert not torch.equal(input_embeddings(first).weight, input_embeddings(other).weight)
    assert first.training
    assert first.config._attn_implementation == "sdpa"


@pytest.mark.parametrize("kind", KINDS)
def test_sequences_may_have_as_many_positions_as_were_asked_for(kind):
    for pad in (0, 4):
        specials = dataclasses.replace(SPECIALS, pad=pad, mask=9)
        model = build_model(options_of(kind), specials, VOCABULARY, 1).eval()
        assert torch.isfinite(hidden_states(model, batch_of(kind))).all()


@pytest.mark.parametrize("kind", KINDS)
def test_special_tokens_reach_the_configuration(kind):
    config = model_of(kind).config
    assert (config.pad_token_id, config.eos_token_id) == (SPECIALS.pad, SPECIALS.end)
    if kind.startswith("t5"):
        assert config.decoder_start_token_id == SPECIALS.pad
    else:
        assert config.bos_token_id == SPECIALS.begin


def test_an_untied_t5_begins_with_logits_as_large_as_a_tied_one():
    spreads = {}
    for kind in ("t5", "t5, untied"):
        model = model_of(kind, width=64).eval()
        spreads[kind] = logits(model, hidden_states(model, batch_of(kind))).std().item()
    assert spreads["t5, untied"] == pytest.approx(spreads["t5"], rel=0.5)


@pytest.mark.parametrize("architecture", ["bert", "roberta"])
def test_encoders_refuse_a_padding_token_that_occurs_in_texts(architecture):
    with pytest.raises(BitcipherError, match=r"needs a padding token that is no other .* add <pad>"):
        build_model(options_of(architecture), dataclasses.replace(SPECIALS, pad=2), VOCABULARY, 1)


def test_a_token_of_opt_that_ends_texts_is_trained_though_it_pads_too():
    specials = dataclasses.replace(SPECIALS, pad=2)
    model = build_model(options_of("opt, untied", dropout=0.0), specials, VOCABULARY, 1)
    hidden_states(model, {"input_ids": torch.full((1, 4), 2)}).square().sum().backward()
    assert input_embeddings(model).weight.grad[2].any()


@pytest.mark.parametrize("kind", KINDS)
def test_a_model_starts_from_a_checkpoint(kind, tmp_path):
    saved = model_of(kind, seed=3)
    save_model(saved, str(tmp_path))
    torch.manual_seed(5)
    expected = torch.rand(3)
    torch.manual_seed(5)
    model = model_of(kind, checkpoint=str(tmp_path), dropout=0.25)
    assert torch.equal(torch.rand(3), expected)
    assert model.training
    assert is_tied(model) == is_tied(saved)
    assert {module.p for module in model.modules() if isinstance(module, torch.nn.Dropout)} <= {0.25}
    for (name, one), two in zip(saved.state_dict().items(), model.state_dict().values(), strict=True):
        assert torch.equal(one, two), name
    batch = batch_of(kind)
    assert torch.equal(hidden_states(saved.eval(), batch), hidden_states(model.eval(), batch))


@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        ({"layers": 1}, "has layers 2, and the options say 1: set layers to 2."),
        ({"inner": 64}, "has inner 32, and the options say 64: set inner to 32."),
        ({"tied": False}, "has one table for input and output: set tied to true."),
        ({"architecture": "roberta"}, "holds a model of the kind bert, not roberta."),
        ({"positions": 20}, f"reads sequences of {LENGTH} tokens at most: set positions to that, not to 20."),
        ({"next_sentence": True}, r"is no whole BertForPreTraining: it has no weights \S+\."),
    ],
)
def test_a_checkpoint_of_another_shape_is_refused(changed, sentence, tmp_path):
    save_model(model_of("bert"), str(tmp_path))
    with pytest.raises(BitcipherError, match=sentence):
        model_of("bert", checkpoint=str(tmp_path), **changed)


@pytest.mark.parametrize(
    ("saved", "wanted", "sentence"),
    [
        (6, 8, "has embeddings of 6 numbers and a projection: set embedding to 6 and tied to false."),
        (16, None, "has embeddings of 16 numbers and a projection: set embedding to 16 and tied to false."),
        (None, 16, "has embeddings as wide as its states, and the options say embedding 16: leave embedding out."),
    ],
)
def test_a_checkpoint_with_another_width_of_embeddings_is_refused(saved, wanted, sentence, tmp_path):
    save_model(model_of("roberta, untied", embedding=saved), str(tmp_path))
    with pytest.raises(BitcipherError, match=sentence):
        model_of("roberta, untied", embedding=wanted, checkpoint=str(tmp_path))


def test_a_checkpoint_of_another_tokenizer_is_refused(tmp_path):
    save_model(model_of("bert"), str(tmp_path))
    options = options_of("bert", checkpoint=str(tmp_path))
    with pytest.raises(BitcipherError, match=r"knows 60 tokens, and the tokenizer has 61"):
        build_model(options, SPECIALS, VOCABULARY + 1, 1)
    with pytest.raises(BitcipherError, match=r"pads with token 0, and the tokenizer with token 4"):
        build_model(options, dataclasses.replace(SPECIALS, pad=4), VOCABULARY, 1)
    assert len(input_embeddings(build_model(options, SPECIALS, VOCABULARY - 1, 1)).weight) == VOCABULARY

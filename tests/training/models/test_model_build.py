import dataclasses

import pytest
import torch
from tiny_models import KINDS, LENGTH, SPECIALS, VOCABULARY, batch_of, model_of, options_of

from bitcipher.errors import BitcipherError
from training.models.build import build_model
from training.models.checkpoint import save_model
from training.models.parts import hidden_states, input_embeddings, is_tied, logits


@pytest.mark.parametrize("kind", KINDS)
def test_weights_depend_on_seed_only(kind):
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
    assert first.config._attn_implementation == ("eager" if kind.startswith("deberta") else "sdpa")


@pytest.mark.parametrize("kind", KINDS)
def test_maximum_length_is_accepted(kind):
    for pad in (0, 4):
        specials = dataclasses.replace(SPECIALS, pad=pad, mask=9)
        model = build_model(options_of(kind), specials, VOCABULARY, 1).eval()
        assert torch.isfinite(hidden_states(model, batch_of(kind))).all()


@pytest.mark.parametrize("kind", KINDS)
def test_config_has_special_tokens(kind):
    config = model_of(kind).config
    assert (config.pad_token_id, config.eos_token_id) == (SPECIALS.pad, SPECIALS.end)
    if kind.startswith("t5"):
        assert config.decoder_start_token_id == SPECIALS.pad
    else:
        assert config.bos_token_id == SPECIALS.begin


def test_untied_t5_has_logits_of_same_size():
    spreads = {}
    for kind in ("t5", "t5, untied"):
        model = model_of(kind, hidden_size=64).eval()
        spreads[kind] = logits(model, hidden_states(model, batch_of(kind))).std().item()
    assert spreads["t5, untied"] == pytest.approx(spreads["t5"], rel=0.5)


@pytest.mark.parametrize("architecture", ["bert", "roberta", "modernbert"])
def test_encoders_without_padding_token_raise(architecture):
    with pytest.raises(BitcipherError, match="dedicated padding token"):
        build_model(options_of(architecture), dataclasses.replace(SPECIALS, pad=2), VOCABULARY, 1)


def test_opt_trains_end_token_used_as_padding():
    specials = dataclasses.replace(SPECIALS, pad=2)
    model = build_model(options_of("opt, untied", dropout=0.0), specials, VOCABULARY, 1)
    hidden_states(model, {"input_ids": torch.full((1, 4), 2)}).square().sum().backward()
    assert input_embeddings(model).weight.grad[2].any()


@pytest.mark.parametrize("kind", KINDS)
def test_build_from_checkpoint(kind, tmp_path):
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
        ({"num_hidden_layers": 1}, "model.num_hidden_layers` is 1; set it to 2"),
        ({"intermediate_size": 64}, "model.intermediate_size` is 64; set it to 32"),
        ({"tie_word_embeddings": False}, "model.tie_word_embeddings` to true"),
        ({"architecture": "roberta"}, "holds a bert model"),
        (
            {"max_position_embeddings": 20},
            f"at most {LENGTH} tokens",
        ),
        ({"next_sentence": True}, "not a complete BertForPreTraining"),
    ],
)
def test_checkpoint_with_other_sizes_raises(changed, sentence, tmp_path):
    save_model(model_of("bert"), str(tmp_path))
    with pytest.raises(BitcipherError, match=sentence):
        model_of("bert", checkpoint=str(tmp_path), **changed)


@pytest.mark.parametrize(("buckets", "apart"), [(32, 16), (80, 40)])
def test_t5_tells_half_as_many_distances_apart_as_it_has_buckets(buckets, apart, tmp_path):
    model = model_of("t5", relative_attention_num_buckets=buckets)
    biases = model.decoder.block[0].layer[0].SelfAttention.compute_bias(60, 60)[0, 0, -1].flip(0)
    assert len(biases[:apart].unique()) == apart
    assert len(biases.unique()) < 60
    save_model(model, str(tmp_path))
    with pytest.raises(BitcipherError, match=rf"num_buckets` is 50; set it to {buckets}"):
        model_of("t5", relative_attention_num_buckets=50, checkpoint=str(tmp_path))


def test_all_layers_of_modernbert_can_attend_to_the_whole_sequence(tmp_path):
    layers = {"num_hidden_layers": 4, "max_position_embeddings": 160}
    kinds = {
        every: model_of("modernbert", global_attn_every_n_layers=every, **layers).config.layer_types for every in (1, 3)
    }
    assert kinds[1] == ["full_attention"] * 4
    assert kinds[3] == ["full_attention", "sliding_attention", "sliding_attention", "full_attention"]
    save_model(model_of("modernbert", global_attn_every_n_layers=1, **layers), str(tmp_path))
    with pytest.raises(
        BitcipherError, match=r"full, full, full, full attention, .* `model.global_attn_every_n_layers` 3"
    ):
        model_of("modernbert", checkpoint=str(tmp_path), **layers)
    assert (
        model_of("modernbert", global_attn_every_n_layers=1, checkpoint=str(tmp_path), **layers).config.layer_types
        == ["full_attention"] * 4
    )


def test_local_layers_attend_to_half_of_the_window_on_either_side(tmp_path):
    sizes = {"num_hidden_layers": 2, "max_position_embeddings": 32, "local_attention": 8}
    model = model_of("modernbert", **sizes).eval()
    model.base_model.layers[0].forward = lambda hidden, **others: hidden  # the global one
    states = model.get_input_embeddings()(torch.arange(10, 30)[None]).detach().requires_grad_()
    model.base_model(inputs_embeds=states).last_hidden_state[0, 10, 0].backward()
    assert states.grad[0].any(dim=1).nonzero().flatten().tolist() == list(range(6, 15))
    save_model(model_of("modernbert", **sizes), str(tmp_path))
    with pytest.raises(BitcipherError, match=r"local_attention 8, but `model.local_attention` is 128; set it to 8"):
        model_of("modernbert", checkpoint=str(tmp_path), num_hidden_layers=2, max_position_embeddings=32)


@pytest.mark.parametrize(
    ("saved", "wanted", "sentence"),
    [
        (6, 8, "set it to 6"),
        (16, None, "set it to 16"),
        (None, 16, "leave it out"),
    ],
)
def test_checkpoint_with_other_embedding_size_raises(saved, wanted, sentence, tmp_path):
    save_model(model_of("roberta, untied", embedding_size=saved), str(tmp_path))
    with pytest.raises(BitcipherError, match=sentence):
        model_of("roberta, untied", embedding_size=wanted, checkpoint=str(tmp_path))


def test_checkpoint_of_other_tokenizer_raises(tmp_path):
    save_model(model_of("bert"), str(tmp_path))
    options = options_of("bert", checkpoint=str(tmp_path))
    with pytest.raises(BitcipherError, match="has 60 tokens, but the tokenizer has 61"):
        build_model(options, SPECIALS, VOCABULARY + 1, 1)
    with pytest.raises(BitcipherError, match="pads with token 0"):
        build_model(options, dataclasses.replace(SPECIALS, pad=4), VOCABULARY, 1)
    assert len(input_embeddings(build_model(options, SPECIALS, VOCABULARY - 1, 1)).weight) == VOCABULARY

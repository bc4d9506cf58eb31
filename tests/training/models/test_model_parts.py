import pytest
import torch
from tiny_models import KINDS, SPECIALS, VOCABULARY, batch_of, model_of, options_of
from transformers import OPTConfig, OPTForCausalLM

from training.models.parts import (
    hidden_states,
    input_embeddings,
    is_tied,
    logits,
    output_bias,
    output_head,
    sentence_logits,
)

every_kind = pytest.mark.parametrize("kind", KINDS)


def logits_of_transformers(model, batch):
    out = model(**batch)
    return out.prediction_logits if "prediction_logits" in out else out.logits


@every_kind
def test_logits_match_transformers(kind):
    model, batch = model_of(kind).eval(), batch_of(kind)
    hidden = hidden_states(model, batch)
    expected = logits_of_transformers(model, batch)
    torch.testing.assert_close(logits(model, hidden), expected, rtol=0, atol=0)
    torch.testing.assert_close(logits(model, hidden.flatten(0, 1)), expected.flatten(0, 1), rtol=0, atol=0)


@every_kind
def test_attention_mask_is_used(kind):
    model, batch = model_of(kind).eval(), batch_of(kind)
    batch["input_ids"][:, 8:] = SPECIALS.pad
    batch["attention_mask"] = (batch["input_ids"] != SPECIALS.pad).long()
    torch.testing.assert_close(
        logits(model, hidden_states(model, batch)), logits_of_transformers(model, batch), rtol=0, atol=0
    )


def test_opt_with_output_projection():
    config = OPTConfig(
        vocab_size=VOCABULARY, hidden_size=16, word_embed_proj_dim=8, num_hidden_layers=1, num_attention_heads=2,
        ffn_dim=32, max_position_embeddings=16, pad_token_id=0, bos_token_id=1, eos_token_id=2,
    )  # fmt: skip
    model, batch = OPTForCausalLM(config).eval(), batch_of("opt")
    hidden = hidden_states(model, batch)
    assert hidden.shape[-1] == 8
    torch.testing.assert_close(logits(model, hidden), model(**batch).logits, rtol=0, atol=0)


def test_other_batch_keys_are_ignored():
    model, batch = model_of("gpt2").eval(), batch_of("gpt2")
    more = batch | {"labels": batch["input_ids"], "positions": torch.arange(3)}
    assert torch.equal(hidden_states(model, batch), hidden_states(model, more))


def test_sentence_logits_match_transformers():
    model, batch = model_of("bert with next sentence").eval(), batch_of("bert")
    expected = model(**batch).seq_relationship_logits
    torch.testing.assert_close(sentence_logits(model, hidden_states(model, batch), batch), expected, rtol=0, atol=0)


def test_sentence_logits_of_modernbert_compare_the_segments_without_padding():
    kind = "modernbert with next sentence"
    model, batch = model_of(kind).eval(), batch_of(kind)
    batch["attention_mask"][0, -2:] = 0
    hidden = hidden_states(model, batch)
    found = sentence_logits(model, hidden, batch)
    first, second = hidden[0, :6].mean(0), hidden[0, 6:-2].mean(0)
    features = torch.cat([first, second, (first - second).abs(), first * second])
    torch.testing.assert_close(found[0], model.seq_relationship(features))
    hidden[0, -1] += 1
    assert torch.equal(sentence_logits(model, hidden, batch), found)


@every_kind
def test_input_embeddings_are_used(kind):
    model, batch = model_of(kind).eval(), batch_of(kind)
    before = hidden_states(model, batch)
    assert input_embeddings(model).weight.shape == (VOCABULARY, options_of(kind).embedding_dim)
    with torch.no_grad():
        input_embeddings(model).weight[batch["input_ids"][0, 0]] += 1
    after = hidden_states(model, batch)
    assert not torch.equal(before[0], after[0])


@every_kind
def test_is_tied(kind):
    model = model_of(kind)
    hidden = torch.randn(2, 16)
    before = logits(model, hidden)
    with torch.no_grad():
        input_embeddings(model).weight[20, 3] += 1  # not the whole row: its product with a LayerNorm's output is 0
    assert is_tied(model) == (not torch.equal(before, logits(model, hidden))) == ("untied" not in kind)
    model.tie_weights()  # as after an exchange of tables: it must not tie separate tables
    assert is_tied(model) == ("untied" not in kind)


@every_kind
def test_output_bias_shifts_logits(kind):
    model = model_of(kind)
    hidden = torch.randn(2, 16)
    before = logits(model, hidden)
    bias = output_bias(model)
    assert (bias is not None) == ("bert" in kind)
    if bias is not None:
        with torch.no_grad():
            bias[7] += 2
        moved = logits(model, hidden) - before
        torch.testing.assert_close(moved[:, 7], torch.full((2,), 2.0))
        assert not moved[:, :7].any()


@every_kind
def test_every_trainable_weight_has_gradient(kind):
    model, batch = model_of(kind, dropout=0.0), batch_of(kind)
    hidden = hidden_states(model, batch)
    loss = logits(model, hidden).square().sum()
    if "next" in kind:
        loss = loss + sentence_logits(model, hidden, batch).square().sum()
    loss.backward()
    assert [name for name, weight in model.named_parameters() if weight.requires_grad and weight.grad is None] == []
    assert set(output_head(model).parameters()) <= set(model.parameters())

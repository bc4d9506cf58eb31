"""DeBERTa: distances of disentangled attention, and the enhanced mask decoder."""

import pytest
import torch
from tiny_models import LENGTH, batch_of, model_of

from training.models.checkpoint import load_model, save_model
from training.models.parts import hidden_states, logits


def randomize(model):
    torch.manual_seed(0)
    with torch.no_grad():
        for weight in model.parameters():
            weight.add_(torch.randn_like(weight) * 0.1)
    return model.eval()


def delta(i: int, j: int, n: int) -> int:
    """Return the row of the embeddings of distances, by the formula of He et al. 2020, section 3.1."""
    if i - j <= -n:
        return 0
    return 2 * n - 1 if i - j >= n else i - j + n


@pytest.mark.parametrize("term", ["c2p", "p2c"])
def test_distances_follow_the_formula(term):
    n = 4
    model = model_of("deberta")
    model.config.pos_att_type, model.config.max_relative_positions = [term], n
    model = randomize(type(model)(model.config))
    attention, encoder = model.deberta.encoder.layer[0].attention.self, model.deberta.encoder
    states = model.deberta.embeddings(input_ids=batch_of("deberta", 1)["input_ids"])
    query, key = (
        attention.transpose_for_scores(project(states), attention.num_attention_heads)
        for project in (attention.query_proj, attention.key_proj)
    )
    positions, table = encoder.get_rel_pos(states), encoder.get_rel_embedding()

    def bias(rows):
        return attention.disentangled_attention_bias(query, key, positions, rows, 2)[0]

    for row in range(2 * n):
        changed = table.clone()
        changed[row] += 1
        moved = (bias(changed) - bias(table)).abs() > 1e-7
        assert moved.tolist() == [[delta(i, j, n) == row for j in range(LENGTH)] for i in range(LENGTH)], row


def test_decoder_with_states_as_query_and_one_layer_is_the_encoder():
    model, batch = randomize(model_of("deberta")), batch_of("deberta")
    batch["attention_mask"] = torch.ones_like(batch["input_ids"])
    batch["attention_mask"][:, -3:] = 0
    with torch.no_grad():
        model.decoder_positions.weight.zero_()
    torch.testing.assert_close(model.decode_masked(batch, layers=1), model.deberta(**batch).last_hidden_state)


def test_decoder_applies_the_last_layer_twice_with_positions_in_the_first_query():
    model, batch = randomize(model_of("deberta", num_hidden_layers=3)), batch_of("deberta")
    encoder = model.deberta.encoder
    below = model.deberta(**batch, output_hidden_states=True).hidden_states[-2]
    inputs = {
        "attention_mask": encoder.get_attention_mask(torch.ones_like(batch["input_ids"])),
        "relative_pos": encoder.get_rel_pos(below),
        "rel_embeddings": encoder.get_rel_embedding(),
    }
    first, _ = encoder.layer[-1](below, query_states=below + model.decoder_positions.weight, **inputs)
    second, _ = encoder.layer[-1](below, query_states=first, **inputs)
    torch.testing.assert_close(hidden_states(model, batch), second)
    torch.testing.assert_close(model(**batch).logits, logits(model, second))


def test_positions_tell_equal_contexts_apart(tmp_path):
    """Without distances and positions, all tokens of a text of one repeated token have equal states."""
    model = randomize(model_of("deberta"))
    batch = {"input_ids": torch.full((1, LENGTH), 9)}
    with torch.no_grad():
        model.deberta.encoder.rel_embeddings.weight.zero_()
    encoded, decoded = model.deberta(**batch).last_hidden_state[0], hidden_states(model, batch)[0]
    torch.testing.assert_close(encoded, encoded[:1].expand_as(encoded))
    assert (decoded - decoded[:1])[1:].abs().amax(dim=1).min() > 1e-3
    save_model(model, str(tmp_path))
    assert torch.equal(hidden_states(load_model(str(tmp_path)), batch)[0], decoded)

"""RoBERTa with projected embeddings: outputs and storage."""

import json

import pytest
import torch
from tiny_models import SPECIALS, VOCABULARY, batch_of, model_of
from transformers import AutoModelForMaskedLM
from transformers.models.roberta.modeling_roberta import RobertaEmbeddings

from bitcipher.errors import BitcipherError
from training.models.checkpoint import load_model, save_model
from training.models.parts import hidden_states, input_embeddings
from training.models.projected import PROJECTED

KIND = "roberta, untied, of narrow rows"


@pytest.mark.parametrize("embedding", [6, 16, 24])
def test_first_layer_reads_normalized_projection(embedding):
    model, batch = model_of(KIND, embedding_size=embedding).eval(), batch_of(KIND)
    with torch.no_grad():
        for weight in model.parameters():
            weight.add_(torch.randn_like(weight) * 0.3)
    own, ids = model.roberta.embeddings, batch["input_ids"]
    rows = own.word_embeddings.weight[ids] + own.position_embeddings.weight[1:13] + own.token_type_embeddings.weight[0]
    assert rows.shape[-1] == embedding
    normed = torch.layer_norm(rows, (embedding,), own.LayerNorm.weight, own.LayerNorm.bias, 1e-12)
    projected = normed @ own.projection.weight.T + own.projection.bias
    norm = own.projection_norm
    expected = torch.layer_norm(projected, (16,), norm.weight, norm.bias, 1e-12)
    states = model.base_model(**batch, output_hidden_states=True).hidden_states
    torch.testing.assert_close(states[0], expected)


def test_initialization_matches_roberta():
    model = model_of(KIND, embedding_size=64, hidden_size=32)
    own = model.roberta.embeddings
    for table in (own.word_embeddings, own.position_embeddings, own.projection):
        assert table.weight.std().item() == pytest.approx(0.02, rel=0.15)
    assert not own.word_embeddings.weight[SPECIALS.pad].any()
    assert not own.projection.bias.any()
    assert (own.projection_norm.weight == 1).all()
    plain = RobertaEmbeddings(model_of("roberta").config)
    assert torch.equal(own.position_ids, plain.position_ids)


def test_model_without_projection_is_roberta():
    model = model_of("roberta, untied")
    assert type(model).__module__.startswith("transformers.")
    assert model.config.model_type == "roberta"
    assert type(model.roberta.embeddings) is RobertaEmbeddings


def test_positions_after_loading(tmp_path):
    model, batch = model_of(KIND).eval(), batch_of(KIND)
    batch["input_ids"][:, 9:] = SPECIALS.pad
    batch["attention_mask"] = (batch["input_ids"] != SPECIALS.pad).long()
    save_model(model, str(tmp_path))
    assert torch.equal(hidden_states(load_model(str(tmp_path)), batch), hidden_states(model, batch))


def test_embeddings_of_equal_shape_are_not_tied(tmp_path):
    model = model_of(KIND, embedding_size=16)
    model.config.tie_word_embeddings = True
    model.tie_weights()
    save_model(model, str(tmp_path))
    loaded = load_model(str(tmp_path))
    assert not torch.equal(loaded.get_output_embeddings().weight, input_embeddings(loaded).weight)
    assert torch.equal(loaded.get_output_embeddings().weight, model.get_output_embeddings().weight)


def test_transformers_opens_projected_model(tmp_path):
    model, batch = model_of(KIND).eval(), batch_of(KIND)
    save_model(model, str(tmp_path))
    theirs = AutoModelForMaskedLM.from_pretrained(tmp_path, local_files_only=True).eval()
    assert torch.equal(theirs(**batch).logits, model(**batch).logits)


@pytest.mark.parametrize("name", PROJECTED)
def test_projected_heads_round_trip(name, tmp_path):
    torch.manual_seed(1)
    model = PROJECTED[name](model_of(KIND).config)
    save_model(model, str(tmp_path))
    loaded = load_model(str(tmp_path))
    assert type(loaded) is PROJECTED[name]
    for (key, one), other in zip(model.state_dict().items(), loaded.state_dict().values(), strict=True):
        assert torch.equal(one, other), key


@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        (
            {"architectures": ["RobertaForMaskedLM"]},
            "class RobertaForMaskedLM",
        ),
        ({"architectures": ["ProjectedEmbeddings"]}, "class ProjectedEmbeddings"),
        ({"model_type": "roberta"}, "class ProjectedRobertaForMaskedLM"),
        ({"embedding_size": "narrow"}, "not a valid model configuration"),
        ({"embedding_size": 7}, "cannot be read"),
    ],
)
def test_invalid_projected_config_raises(changed, sentence, tmp_path):
    save_model(model_of(KIND), str(tmp_path))
    config = json.loads((tmp_path / "config.json").read_text())
    (tmp_path / "config.json").write_text(json.dumps(config | changed))
    with pytest.raises(BitcipherError, match=sentence):
        load_model(str(tmp_path))


def test_projected_checkpoint_with_other_sizes_raises(tmp_path):
    save_model(model_of(KIND, seed=3), str(tmp_path))
    model = model_of(KIND, checkpoint=str(tmp_path), dropout=0.25)
    assert input_embeddings(model).weight.shape == (VOCABULARY, 6)
    assert model.roberta.embeddings.dropout.p == 0.25
    with pytest.raises(BitcipherError, match=r"model.hidden_size` is 32; set it to 16"):
        model_of(KIND, checkpoint=str(tmp_path), hidden_size=32)

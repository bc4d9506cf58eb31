"""FLOPs of a training step against torch's counter of matrix products."""

import pytest
import torch
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils.flop_counter import FlopCounterMode

from bitcipher.errors import BitcipherError
from pipelines.tokenizers.tokenizer_json import vocab_size
from training.data.special_tokens import special_tokens
from training.data.train_tokenizer import train_tokenizer
from training.models.build import build_model
from training.models.flops import training_flops
from training.models.options import ModelOptions
from training.models.parts import hidden_states, logits
from training.studies.downscaling.scaling.shape import Shape

torch.set_num_threads(1)

TEXTS = ["the cat sat on the mat, and the dog did not", "a king and a queen saw the house in the street"] * 10
LENGTH, DECODER_LENGTH, PREDICTIONS, BATCH = 24, 9, 5, 3


def built(architecture, **options):
    kind = "wordpiece" if architecture == "bert" else "bpe"
    tokenizer = train_tokenizer(TEXTS, kind, 60 if kind == "wordpiece" else 300)
    sizes = {"num_hidden_layers": 2, "hidden_size": 16, "num_attention_heads": 2, "intermediate_size": 48}
    made = ModelOptions(architecture=architecture, max_position_embeddings=LENGTH, **{**sizes, **options})
    return build_model(made, special_tokens(tokenizer), vocab_size(tokenizer), 1).train()


def counted(model, is_t5):
    """Return the FLOPs of a forward and a backward pass per sequence, with the head at some positions only."""
    batch = {
        "input_ids": torch.full((BATCH, LENGTH), 9),
        "attention_mask": torch.ones(BATCH, LENGTH, dtype=torch.int64),
    }
    if is_t5:
        batch["decoder_input_ids"] = torch.full((BATCH, DECODER_LENGTH), 9)
    # The counter does not know the fused attention of all devices; this implementation has separate products.
    with sdpa_kernel(SDPBackend.MATH), FlopCounterMode(display=False) as counter:
        hidden = hidden_states(model, batch)
        positions = DECODER_LENGTH if is_t5 else PREDICTIONS
        logits(model, hidden[:, :positions].reshape(BATCH * positions, -1)).sum().backward()
    return counter.get_total_flops() / BATCH


@pytest.mark.parametrize("architecture", ["gpt2", "opt", "bert", "roberta", "modernbert"])
def test_flops_equal_those_of_the_counter(architecture):
    model = built(architecture)
    assert training_flops(model.config, LENGTH, PREDICTIONS) == pytest.approx(counted(model, False))


def test_flops_of_deberta_equal_those_of_the_counter_but_for_projections_of_distances():
    model = built("deberta")
    hidden, distances, layers = 16, 2 * LENGTH, 3  # the last layer is used twice
    projections = 3 * layers * 2 * 2 * distances * hidden**2 / BATCH
    found = training_flops(model.config, LENGTH, PREDICTIONS)
    assert found == pytest.approx(counted(model, False) - projections, rel=0.02)


def test_flops_of_t5_equal_those_of_the_counter():
    model = built("t5")
    expected = counted(model, True)
    assert training_flops(model.config, LENGTH, DECODER_LENGTH, DECODER_LENGTH) == pytest.approx(expected)


def test_flops_spent_by_a_shape_equal_those_of_the_counter():
    model = built("roberta", embedding_size=8, tie_word_embeddings=False)
    shape = Shape(8, 16, 48, 2, 2)
    found = shape.flops_spent(PREDICTIONS, model.config.vocab_size, LENGTH)
    assert found == training_flops(model.config, LENGTH, PREDICTIONS)
    assert found == pytest.approx(counted(model, False))
    assert found < shape.flops_published(model.config.vocab_size, LENGTH)


def test_length_of_the_decoder_must_fit_the_architecture():
    with pytest.raises(BitcipherError, match="`decoder_length` is needed for T5"):
        training_flops(built("t5").config, LENGTH, PREDICTIONS)
    with pytest.raises(BitcipherError, match="`decoder_length` is needed for T5"):
        training_flops(built("gpt2").config, LENGTH, PREDICTIONS, 3)

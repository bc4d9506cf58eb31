import pytest

from bitcipher.errors import BitcipherError
from training.data.special_tokens import SpecialTokens
from training.models.build import build_model
from training.models.flops import training_flops
from training.models.options import ModelOptions
from training.studies.downscaling.scaling.modernbert_shape import ModernBertShape
from training.studies.downscaling.scaling.shape import Shape

VOCABULARY, LENGTH = 300, 24
TOKENS = SpecialTokens(pad=0, begin=1, end=2, unknown=3, mask=4, sentinels=())


def model_of(shape, tied):
    options = ModelOptions(
        architecture="modernbert",
        num_hidden_layers=shape.layers,
        hidden_size=shape.hidden,
        num_attention_heads=shape.heads,
        intermediate_size=shape.intermediate,
        max_position_embeddings=LENGTH,
        tie_word_embeddings=tied,
    )
    return build_model(options, TOKENS, VOCABULARY, seed=0)


@pytest.mark.parametrize("tied", [True, False])
@pytest.mark.parametrize("name", ["16-16-32-1-1", "32-32-40-3-2"])
def test_numbers_of_parameters_are_those_of_models(name, tied):
    shape = ModernBertShape.from_name(name)
    model = model_of(shape, tied)
    assert shape.parameters(tied, VOCABULARY) == sum(weight.numel() for weight in model.parameters())


def test_spent_flops_are_those_of_models():
    shape = ModernBertShape(32, 32, 48, 2, 2)
    expected = training_flops(model_of(shape, True).config, LENGTH, 3.5)
    assert shape.flops_spent(3.5, VOCABULARY, LENGTH) == expected


def test_flops_differ_from_those_of_a_roberta_by_gates_and_projection():
    shape = ModernBertShape(32, 32, 64, 2, 2)
    gates, projection = 2 * 2 * 24 * 32 * 64, 2 * 24 * 32 * 32
    roberta = Shape(32, 32, 64, 2, 2).flops_published(VOCABULARY, LENGTH)
    assert shape.flops_published(VOCABULARY, LENGTH) == roberta + 3 * (gates - projection)


@pytest.mark.parametrize(
    ("name", "fact"), [("16-32-64-1-1", "embeddings of its hidden size, 32"), ("18-18-64-1-2", "heads of an even size")]
)
def test_impossible_shape_raises(name, fact):
    with pytest.raises(BitcipherError, match=fact):
        ModernBertShape.from_name(name)

import pytest

from bitcipher.errors import BitcipherError
from training.models import ModelOptions


@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        ({"architecture": "llama"}, "There is no architecture 'llama': choose one of bert, roberta, gpt2, opt, t5."),
        ({"layers": 0}, "A model's layers must be 1 or more, not 0."),
        ({"positions": -1}, "A model's positions must be 1 or more, not -1."),
        ({"width": 30, "heads": 4}, "A model's width must be divisible by its heads, and 30 by 4 is not."),
        ({"dropout": 1.0}, "A model's dropout must be at least 0 and below 1, not 1.0."),
        ({"next_sentence": True}, "Only bert has a next-sentence head: leave it out for roberta."),
    ],
)
def test_sizes_that_do_not_fit_are_told_in_one_sentence(changed, sentence):
    with pytest.raises(BitcipherError) as error:
        ModelOptions(**changed)
    assert str(error.value) == sentence

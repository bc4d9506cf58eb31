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
        ({"tied": False, "embedding": 0}, "A model's embedding must be 1 or more, not 0."),
        (
            {"architecture": "bert", "tied": False, "embedding": 32},
            "Only roberta has an embedding of another width than its states: leave embedding out for bert.",
        ),
        (
            {"embedding": 256},
            "A model whose embedding has a width of its own has a table of its own for output: set tied to false.",
        ),
    ],
)
def test_sizes_that_do_not_fit_are_told_in_one_sentence(changed, sentence):
    with pytest.raises(BitcipherError) as error:
        ModelOptions(**changed)
    assert str(error.value) == sentence


def test_the_table_is_as_wide_as_the_states_unless_told():
    assert ModelOptions(width=64).table_width == 64
    assert ModelOptions(width=64, tied=False, embedding=32).table_width == 32

import pytest

from bitcipher.errors import BitcipherError
from training.models import ARCHITECTURES, ModelOptions
from training.objectives import (
    OBJECTIVES,
    CausalLM,
    MaskedLM,
    NextSentence,
    SpanCorruption,
    check_fits,
    make_objective,
)

NO_NUMBER = "Input should be a valid number, unable to parse string as a number"


def test_objectives_are_made_by_name():
    assert make_objective("masked", share=0.4, replacement="always") == MaskedLM(0.4, replacement="always")
    assert make_objective("causal") == CausalLM()
    assert make_objective("span_corruption", mean_span=5.0) == SpanCorruption(mean_span=5.0)
    assert make_objective("next_sentence", whole_words=True) == NextSentence(whole_words=True)


@pytest.mark.parametrize(
    ("name", "options", "sentence"),
    [
        (
            "electra",
            {},
            "There is no objective 'electra': choose one of masked, causal, span_corruption, next_sentence.",
        ),
        (
            "masked",
            {"shares": 1},
            "The objective masked has no option 'shares': it has share, dynamic, replacement, whole_words.",
        ),
        ("causal", {"share": 0.1}, "The objective causal has no option 'share': it has none."),
        ("masked", {"share": 0}, "The share of masked tokens must lie between 0 and 1, and 0.0 does not."),
        ("masked", {"share": "much"}, f"The objective masked gives share as 'much': {NO_NUMBER}."),
    ],
)
def test_what_cannot_be_made_is_told_in_one_sentence(name, options, sentence):
    with pytest.raises(BitcipherError) as error:
        make_objective(name, **options)
    assert str(error.value) == sentence


@pytest.mark.parametrize("name", OBJECTIVES)
def test_an_objective_says_which_models_it_trains(name):
    objective = make_objective(name)
    fitting = {"masked": {"bert", "roberta"}, "causal": {"gpt2", "opt"}, "span_corruption": {"t5"}}
    for architecture in ARCHITECTURES:
        options = ModelOptions(architecture, next_sentence=architecture == "bert")
        if architecture in fitting.get(name, {"bert"}):
            check_fits(objective, options)
        else:
            with pytest.raises(BitcipherError, match=rf" trains .*, not {architecture}: choose another "):
                check_fits(objective, options)


def test_next_sentence_needs_its_head():
    with pytest.raises(BitcipherError, match=r"needs a model with the next-sentence head: set next_sentence to true"):
        check_fits(NextSentence(), ModelOptions("bert"))

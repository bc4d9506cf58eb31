import pytest

from bitcipher.errors import BitcipherError
from training.models.options import ARCHITECTURES, ModelOptions
from training.objectives.base import check_objective
from training.objectives.causal import CausalLM
from training.objectives.masked import MaskedLM
from training.objectives.next_sentence import NextSentence
from training.objectives.registry import OBJECTIVES, make_objective
from training.objectives.replaced_tokens import ReplacedTokens
from training.objectives.simclr import SimCLR
from training.objectives.span_corruption import SpanCorruption


def test_make_objective():
    assert make_objective({"name": "masked", "mlm_probability": 0.4, "replacement": "always"}) == MaskedLM(
        mlm_probability=0.4, replacement="always"
    )
    assert make_objective({"name": "causal"}) == CausalLM()
    assert make_objective({"name": "span_corruption", "mean_noise_span_length": 5.0}) == SpanCorruption(
        mean_noise_span_length=5.0
    )
    assert make_objective({"name": "next_sentence", "whole_word_mask": True}) == NextSentence(whole_word_mask=True)


@pytest.mark.parametrize(
    ("values", "fact"),
    [
        ({}, "`objective.name` must be one of masked, causal"),
        ({"name": "electra"}, "`objective.name` must be one of masked, causal"),
        (
            {"name": "masked", "shares": 1},
            "no option `objective.shares`; choose from document_mask, mlm_prob",
        ),
        (
            {"name": "causal", "mlm_probability": 0.1},
            "no option .*mlm_probability`; choose from document_mask",
        ),
        ({"name": "masked", "mlm_probability": 0}, "`objective.mlm_probability` must be greater than 0"),
        ({"name": "masked", "mlm_probability": "much"}, "`objective.mlm_probability` must be a number"),
    ],
)
def test_invalid_objective_raises(values, fact):
    with pytest.raises(BitcipherError, match=fact):
        make_objective(values)


@pytest.mark.parametrize("name", OBJECTIVES)
def test_check_objective(name):
    objective = make_objective({"name": name})
    encoders = {"bert", "roberta", "modernbert", "deberta"}
    fitting = {"masked": encoders, "causal": {"gpt2", "opt"}, "span_corruption": {"t5"}, "replaced_tokens": encoders}
    fitting |= {"text_pairs": {"t5"}, "simclr": encoders, "vicreg": encoders, "next_sentence": {"bert", "modernbert"}}
    for architecture in ARCHITECTURES:
        layers = 1 if name == "replaced_tokens" and architecture in encoders else None
        projector = 8 if name in ("simclr", "vicreg") and architecture in encoders else None
        has_head = architecture in ("bert", "modernbert") and not (layers or projector)
        options = ModelOptions(
            architecture=architecture, next_sentence=has_head, generator_layers=layers, projector_size=projector
        )
        if architecture in fitting[name]:
            check_objective(objective, options)
        else:
            with pytest.raises(BitcipherError, match=f"trains .* is {architecture}"):
                check_objective(objective, options)


def test_generator_without_objective_and_objective_without_generator_raise():
    with pytest.raises(BitcipherError, match=r"needs a generator; set `model\.generator_layers`"):
        check_objective(ReplacedTokens(), ModelOptions(architecture="bert"))
    with pytest.raises(BitcipherError, match=r"MaskedLM trains no generator; leave `model\.generator_layers` out"):
        check_objective(MaskedLM(), ModelOptions(architecture="bert", generator_layers=1))


def test_projector_without_objective_and_objective_without_projector_raise():
    with pytest.raises(BitcipherError, match=r"SimCLR needs a projector; set `model\.projector_size`"):
        check_objective(SimCLR(), ModelOptions(architecture="bert"))
    with pytest.raises(BitcipherError, match=r"MaskedLM trains no projector; leave out `model\.projector_size`"):
        check_objective(MaskedLM(), ModelOptions(architecture="bert", projector_size=8))


def test_next_sentence_without_head_raises():
    with pytest.raises(BitcipherError, match="next_sentence"):
        check_objective(NextSentence(), ModelOptions(architecture="bert"))


@pytest.mark.parametrize(
    ("objective", "model"),
    [
        (MaskedLM(document_mask=True), {"architecture": "deberta"}),
        (NextSentence(document_mask=True), {"architecture": "modernbert", "next_sentence": True}),
        (ReplacedTokens(document_mask=True), {"architecture": "modernbert", "generator_layers": 1}),
    ],
    ids=["deberta", "next_sentence", "replaced_tokens"],
)
def test_document_mask_that_has_no_effect_raises(objective, model):
    with pytest.raises(BitcipherError, match=r"`objective\.document_mask` needs the objective masked or causal"):
        check_objective(objective, ModelOptions(**model))

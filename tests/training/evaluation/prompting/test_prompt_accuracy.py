"""Likelihoods of labels against single forward passes, and accuracies for numbers of shots."""

import numpy as np
import pytest
import torch
from tokenizers import Tokenizer

from bitcipher.errors import BitcipherError
from pipelines.tokenizers.tokenizer_json import vocab_size
from training.data.special_tokens import special_tokens
from training.data.tokenizer_files import plain_text_tokenizer
from training.data.train_tokenizer import train_tokenizer
from training.evaluation.prompting.label_likelihood import score_labels
from training.evaluation.prompting.label_template import LabelTemplate
from training.evaluation.prompting.prompt_accuracy import evaluate_prompts, majority_accuracy
from training.models.build import build_model
from training.models.options import ModelOptions

torch.set_num_threads(1)

TEXTS = ["the cat is good. the dog is very bad. two birds are fine and see a cat"] * 5
TOKENIZER = train_tokenizer(TEXTS, "bpe", 290)
LABELS = ("good", "very bad", "fine")
PROMPTS = ["the cat is ", "two birds see the dog, and the dog is", "a"]
TEMPLATE = LabelTemplate(template="{text} is {label}. ", labels={"0": "good", "1": "very bad"})
ROWS = [{"text": text, "label": label} for text, label in (("the cat", "0"), ("the dog", "1"), ("a bird", "0"))]


def built(architecture, positions=40):
    options = ModelOptions(
        architecture=architecture,
        num_hidden_layers=1,
        hidden_size=16,
        num_attention_heads=2,
        intermediate_size=32,
        max_position_embeddings=positions,
        dropout=0.3,
    )
    model = build_model(options, special_tokens(TOKENIZER), vocab_size(TOKENIZER), 1)
    with torch.no_grad():
        for weight in model.parameters():
            if weight.ndim >= 2:
                weight.mul_(4)
    return model


@torch.no_grad()
def reference(model, tokenizer: Tokenizer, prompt: str, label: str) -> float:
    """Return the mean log-probability of the tokens of a label from one forward pass."""
    special, model = special_tokens(tokenizer), model.eval()
    stripped = prompt.rstrip(" ")
    context, words = (
        plain_text_tokenizer(tokenizer).encode(text, add_special_tokens=False).ids
        for text in (stripped, prompt[len(stripped) :] + label)
    )
    if model.config.is_encoder_decoder:
        words = [*words, special.end]
        given = {"decoder_input_ids": torch.tensor([[special.pad, *words[:-1]]])}
        output = model(input_ids=torch.tensor([[*context, special.end]]), **given).logits[0]
    else:
        output = model(input_ids=torch.tensor([[special.end, *context, *words[:-1]]])).logits[0, len(context) :]
    return float(output.double().log_softmax(-1)[range(len(words)), words].mean())


@pytest.mark.parametrize("architecture", ["gpt2", "opt", "t5"])
def test_scores_equal_those_of_single_passes(architecture):
    model = built(architecture)
    scores, n_cut = score_labels(model, TOKENIZER, PROMPTS, LABELS)
    expected = [[reference(model, TOKENIZER, prompt, label) for label in LABELS] for prompt in PROMPTS]
    assert scores == pytest.approx(np.array(expected), rel=1e-4)
    assert n_cut == 0


def test_beginnings_of_long_prompts_are_cut():
    model = built("gpt2", positions=12)
    long = "the cat and the dog and two birds and a cat and the dog is"
    scores, n_cut = score_labels(model, TOKENIZER, [long, "a"], LABELS)
    assert n_cut == 1
    encoder = plain_text_tokenizer(TOKENIZER)
    room = 12 - max(len(encoder.encode(label, add_special_tokens=False).ids) for label in LABELS)
    start = encoder.encode(long, add_special_tokens=False).offsets[-room][0]
    assert scores[0] == pytest.approx([reference(model, TOKENIZER, long[start:], label) for label in LABELS], rel=1e-4)


def test_encoders_and_impossible_labels_are_refused():
    with pytest.raises(BitcipherError, match="RobertaForMaskedLM cannot generate text; use a model of gpt2, opt, t5"):
        score_labels(built("roberta"), TOKENIZER, PROMPTS, LABELS)
    with pytest.raises(BitcipherError, match="leave no room for a prompt in 3 tokens"):
        score_labels(built("gpt2", positions=3), TOKENIZER, PROMPTS, ["very bad and very bad", "good"])


def test_accuracy_is_that_of_the_likeliest_labels():
    model = built("gpt2")
    (zero,) = evaluate_prompts(model, TOKENIZER, TEMPLATE, ROWS, [], [0], 3)
    labels = list(TEMPLATE.labels.values())
    scores = [[reference(model, TOKENIZER, f"{row['text']} is ", label) for label in labels] for row in ROWS]
    right = [int(np.argmax(each)) == int(row["label"]) for each, row in zip(scores, ROWS, strict=True)]
    assert zero.accuracies == (pytest.approx(100 * np.mean(right)),)
    assert majority_accuracy(TEMPLATE, ROWS, []) == pytest.approx(200 / 3)
    assert majority_accuracy(TEMPLATE, ROWS, [ROWS[1]]) == pytest.approx(100 / 3)


def test_shots_are_drawn_by_seed(monkeypatch):
    train = [{"text": f"the {word}", "label": str(n % 2)} for n, word in enumerate("cat dog bird two fine see".split())]
    seen = []

    def score(model, tokenizer, prompts, labels):
        seen.append(prompts)
        return np.tile([1.0, 0.0], (len(prompts), 1)), 2

    monkeypatch.setattr("training.evaluation.prompting.prompt_accuracy.score_labels", score)
    results = evaluate_prompts(built("gpt2"), TOKENIZER, TEMPLATE, ROWS, train, [0, 1, 3], 4)
    assert [(result.shots, len(result.accuracies), result.cut_prompts) for result in results] == [
        (0, 1, 2),
        (1, 4, 8),
        (3, 4, 8),
    ]
    assert seen[0] == [f"{row['text']} is " for row in ROWS]
    demonstrations = {TEMPLATE.demonstration(row) for row in train}
    ones, threes = ([prompts[0].removesuffix(seen[0][0]) for prompts in part] for part in (seen[1:5], seen[5:]))
    assert set(ones) <= demonstrations
    assert len(set(ones)) > 1
    for one, three in zip(ones, threes, strict=True):
        assert three.startswith(one)
        assert sum(text in three for text in demonstrations) == 3
    with pytest.raises(BitcipherError, match=r"7 shots need as many training examples \(`--train`\); there are 6"):
        evaluate_prompts(built("gpt2"), TOKENIZER, TEMPLATE, ROWS, train, [7], 1)


@pytest.mark.parametrize("architecture", ["gpt2", "t5"])
def test_chain_of_thought_is_written_by_the_model(architecture, monkeypatch):
    template = LabelTemplate(
        template="{text}: {reasoning} so {label}. ",
        labels=TEMPLATE.labels,
        examples=({"text": "a cat", "label": "0", "reasoning": "two birds"},),
    )
    seen = []

    def score(model, tokenizer, prompts, labels):
        seen.append(prompts)
        return np.zeros((len(prompts), len(labels))), 0

    monkeypatch.setattr("training.evaluation.prompting.prompt_accuracy.score_labels", score)
    monkeypatch.setattr("training.evaluation.prompting.prompt_accuracy.REASONING_TOKENS", 5)
    evaluate_prompts(built(architecture), TOKENIZER, template, ROWS, [], [0, 1], 1)
    for row, without, with_one in zip(ROWS, *seen, strict=True):
        assert without.startswith(f"{row['text']}: ")
        assert with_one.startswith(f"a cat: two birds so good. {row['text']}: ")
        assert without.endswith(" so ")
        assert "\n" not in without
    with pytest.raises(BitcipherError, match="2 shots need as many `examples` of the template; there are 1"):
        evaluate_prompts(built(architecture), TOKENIZER, template, ROWS, ROWS, [2], 1)

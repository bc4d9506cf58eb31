"""Generated text against reference decoding, and independence from other settings."""

import json

import numpy as np
import pytest
import torch
from tiny_generators import (
    POSITIONS,
    model_inputs,
    next_logits,
    reference_greedy,
    reference_probabilities,
    tokenizer_of,
    writer,
)
from transformers import GPT2Model

from bitcipher.errors import BitcipherError
from pipelines.tokenizers.tokenizer_json import vocab_size
from training.data.special_tokens import special_tokens
from training.data.tokenizer_files import plain_text_tokenizer
from training.evaluation.decoding.generation import generate
from training.evaluation.decoding.options import DecodingOptions
from training.models.build import build_model
from training.models.checkpoint import load_model, save_model
from training.models.options import ModelOptions

PROMPTS = ["the cat sat", "a king", "", "the dog did not </s> stop"]
FAMILIES = ["gpt2", "opt", "t5"]
SAMPLED = DecodingOptions(max_new_tokens=8, temperature=1.0, seed=3)


@pytest.mark.parametrize("family", FAMILIES)
def test_greedy_search_matches_full_forward_passes(family):
    model, tokenizer = writer(family), tokenizer_of()
    written = generate(model, tokenizer, PROMPTS, DecodingOptions(max_new_tokens=10))
    assert len(set(written)) > 1
    for prompt, text in zip(PROMPTS, written, strict=True):
        # Byte-level tokens can be decoded separately.
        assert text == tokenizer.decode(reference_greedy(model, tokenizer, prompt, 10))


@pytest.mark.parametrize("family", FAMILIES)
def test_sampling_depends_on_seed_and_prompt_number(family):
    model, tokenizer = writer(family), tokenizer_of()
    torch.manual_seed(5)
    before = torch.random.get_rng_state()
    once = generate(model, tokenizer, PROMPTS, SAMPLED)
    assert torch.equal(torch.random.get_rng_state(), before)
    torch.manual_seed(6)
    model.train()  # dropout must be disabled
    assert generate(model, tokenizer, PROMPTS, SAMPLED) == once
    assert generate(model, tokenizer, [PROMPTS[0], "in the house", PROMPTS[2]], SAMPLED)[::2] == once[:3:2]
    other = DecodingOptions(max_new_tokens=8, temperature=1.0, seed=4)
    assert generate(model, tokenizer, PROMPTS, other) != once
    same = generate(model, tokenizer, ["a king"] * 4, SAMPLED)
    assert len(set(same)) > 1  # each prompt has its own random numbers


@pytest.mark.parametrize("family", FAMILIES)
def test_top_k_of_one_is_greedy(family):
    model, tokenizer = writer(family), tokenizer_of()
    greedy = generate(model, tokenizer, PROMPTS, DecodingOptions(max_new_tokens=8))
    assert generate(model, tokenizer, PROMPTS, DecodingOptions(max_new_tokens=8, temperature=1.5, top_k=1)) == greedy
    assert generate(model, tokenizer, PROMPTS, DecodingOptions(max_new_tokens=8, temperature=1.5, top_p=1e-9)) == greedy


@pytest.mark.parametrize(
    ("temperature", "top_k", "top_p"),
    [(1.0, None, None), (0.5, None, None), (3.0, 6, None), (2.0, None, 0.6), (3.0, 9, 0.5)],
)
def test_sampling_probabilities(temperature, top_k, top_p):
    model, tokenizer, draws = writer("gpt2"), tokenizer_of(), 400
    options = DecodingOptions(max_new_tokens=1, temperature=temperature, top_k=top_k, top_p=top_p, seed=2)
    shares = reference_probabilities(
        next_logits(model, *model_inputs(model, tokenizer, "the cat")), temperature, top_k, top_p
    )
    by_text: dict[str, float] = {}  # special tokens decode to nothing
    for token, share in enumerate(shares):
        text = tokenizer.decode([token])
        by_text[text] = by_text.get(text, 0) + share
    written = generate(model, tokenizer, ["the cat"] * draws, options)
    assert all(by_text[text] > 0 for text in written)
    assert 1 < sum(share > 0 for share in by_text.values())
    for text, share in by_text.items():
        # Five standard deviations of a binomial; seeds are fixed.
        assert abs(written.count(text) / draws - share) <= 5 * np.sqrt(share * (1 - share) / draws) + 1e-9


@pytest.mark.parametrize("kind", ["bpe", "wordpiece", "unigram"])
def test_generated_text_continues_prompt(kind):
    model, tokenizer = writer("gpt2", kind), tokenizer_of(kind)
    prompt = "the cat sat on"
    (text,) = generate(model, tokenizer, [prompt], DecodingOptions(max_new_tokens=8))
    made = reference_greedy(model, tokenizer, prompt, 8)
    read = plain_text_tokenizer(tokenizer).encode(prompt, add_special_tokens=False).ids
    assert prompt + text == tokenizer.decode(read + made)


def test_generation_ends_at_end_token_and_last_position():
    model, tokenizer = writer("gpt2"), tokenizer_of()
    end = special_tokens(tokenizer).end
    made = reference_greedy(model, tokenizer, "the", 4)
    assert end not in made
    with torch.no_grad():
        kept = model.transformer.wte.weight[end].clone()
        model.transformer.wte.weight[end] = 2 * model.transformer.wte.weight[made[1]]
    try:
        changed = reference_greedy(model, tokenizer, "the", 30)
        assert changed[-1] == end
        assert generate(model, tokenizer, ["the"], DecodingOptions(max_new_tokens=30)) == [tokenizer.decode(changed)]
    finally:
        with torch.no_grad():
            model.transformer.wte.weight[end] = kept
    whole = reference_greedy(model, tokenizer, "the", POSITIONS - 1 - len(model_inputs(model, tokenizer, "the")[1]) + 1)
    assert generate(model, tokenizer, ["the"], DecodingOptions(max_new_tokens=1000)) == [tokenizer.decode(whole)]


def test_generation_config_of_model_is_ignored(tmp_path):
    model, tokenizer = writer("gpt2"), tokenizer_of()
    save_model(model, str(tmp_path))
    (tmp_path / "generation_config.json").write_text(
        json.dumps({"do_sample": True, "repetition_penalty": 9.0, "num_beams": 3, "min_new_tokens": 9, "top_k": 2})
    )
    options = DecodingOptions(max_new_tokens=8)
    assert generate(load_model(str(tmp_path)), tokenizer, PROMPTS, options) == generate(
        model, tokenizer, PROMPTS, options
    )


def test_unsupported_models_and_prompts_raise():
    tokenizer, options = tokenizer_of(), DecodingOptions(max_new_tokens=3)
    sizes = {
        "num_hidden_layers": 1,
        "hidden_size": 16,
        "num_attention_heads": 2,
        "intermediate_size": 16,
        "max_position_embeddings": 8,
    }
    encoder = build_model(
        ModelOptions(architecture="bert", **sizes), special_tokens(tokenizer), vocab_size(tokenizer), 1
    )
    with pytest.raises(BitcipherError, match="BertForMaskedLM cannot generate"):
        generate(encoder, tokenizer, ["a"], options)
    with pytest.raises(BitcipherError, match="GPT2Model cannot generate"):
        generate(GPT2Model(writer("gpt2").config), tokenizer, ["a"], options)
    small = build_model(ModelOptions(architecture="gpt2", **sizes), special_tokens(tokenizer), 100, 1)
    with pytest.raises(BitcipherError, match="has 100 tokens, but the tokenizer"):
        generate(small, tokenizer, ["a"], options)
    with pytest.raises(BitcipherError, match=r"Prompt 2 has .* at most 39"):
        generate(writer("gpt2"), tokenizer, ["a", "the cat sat on the mat " * 9], options)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"max_new_tokens": 0}, "`max_new_tokens`"),
        ({"temperature": -1.0}, "`temperature`"),
        ({"temperature": 1.0, "top_k": 0}, "`top_k`"),
        ({"temperature": 1.0, "top_p": 1.5}, "`top_p`"),
        ({"top_k": 5}, "set `temperature`"),
    ],
)
def test_invalid_decoding_options_raise(options, sentence):
    with pytest.raises(BitcipherError, match=sentence):
        DecodingOptions(**options)

"""What models write: the plain way of choosing tokens, and nothing else that has a say in it."""

import json

import numpy as np
import pytest
import torch
from small_writers import POSITIONS, next_logits, plain_greedy, plain_shares, read_by, tokenizer_of, writer
from transformers import GPT2Model

from bitcipher.errors import BitcipherError
from training.data import special_tokens, text_only, vocabulary_size
from training.decoding import DecodingOptions, complete
from training.models import ModelOptions, build_model, load_model, save_model

PROMPTS = ["the cat sat", "a king", "", "the dog did not </s> stop"]
FAMILIES = ["gpt2", "opt", "t5"]
SAMPLED = DecodingOptions(tokens=8, temperature=1.0, seed=3)


@pytest.mark.parametrize("family", FAMILIES)
def test_greedy_is_the_likeliest_token_of_whole_forward_passes(family):
    model, tokenizer = writer(family), tokenizer_of()
    written = complete(model, tokenizer, PROMPTS, DecodingOptions(tokens=10))
    assert len(set(written)) > 1
    for prompt, text in zip(PROMPTS, written, strict=True):
        # Byte-level pieces can be decoded on their own.
        assert text == tokenizer.decode(plain_greedy(model, tokenizer, prompt, 10))


@pytest.mark.parametrize("family", FAMILIES)
def test_a_seed_writes_the_same_whatever_stands_beside(family):
    model, tokenizer = writer(family), tokenizer_of()
    torch.manual_seed(5)
    before = torch.random.get_rng_state()
    once = complete(model, tokenizer, PROMPTS, SAMPLED)
    assert torch.equal(torch.random.get_rng_state(), before)
    torch.manual_seed(6)
    model.train()  # dropout is of training
    assert complete(model, tokenizer, PROMPTS, SAMPLED) == once
    assert complete(model, tokenizer, [PROMPTS[0], "in the house", PROMPTS[2]], SAMPLED)[::2] == once[:3:2]
    other = DecodingOptions(tokens=8, temperature=1.0, seed=4)
    assert complete(model, tokenizer, PROMPTS, other) != once
    same = complete(model, tokenizer, ["a king"] * 4, SAMPLED)
    assert len(set(same)) > 1  # each has numbers of its own


@pytest.mark.parametrize("family", FAMILIES)
def test_one_token_to_choose_from_is_greedy(family):
    model, tokenizer = writer(family), tokenizer_of()
    greedy = complete(model, tokenizer, PROMPTS, DecodingOptions(tokens=8))
    assert complete(model, tokenizer, PROMPTS, DecodingOptions(tokens=8, temperature=1.5, top_k=1)) == greedy
    assert complete(model, tokenizer, PROMPTS, DecodingOptions(tokens=8, temperature=1.5, top_p=1e-9)) == greedy


@pytest.mark.parametrize(
    ("temperature", "top_k", "top_p"),
    [(1.0, None, None), (0.5, None, None), (3.0, 6, None), (2.0, None, 0.6), (3.0, 9, 0.5)],
)
def test_tokens_are_sampled_as_often_as_they_are_likely(temperature, top_k, top_p):
    model, tokenizer, draws = writer("gpt2"), tokenizer_of(), 400
    options = DecodingOptions(1, temperature, top_k, top_p, seed=2)
    shares = plain_shares(next_logits(model, *read_by(model, tokenizer, "the cat")), temperature, top_k, top_p)
    by_text: dict[str, float] = {}  # special tokens are written as nothing
    for token, share in enumerate(shares):
        text = tokenizer.decode([token])
        by_text[text] = by_text.get(text, 0) + share
    written = complete(model, tokenizer, ["the cat"] * draws, options)
    assert all(by_text[text] > 0 for text in written)
    assert 1 < sum(share > 0 for share in by_text.values())
    for text, share in by_text.items():
        # Five standard deviations of a binomial: one wrong alarm in a million, and seeds are fixed.
        assert abs(written.count(text) / draws - share) <= 5 * np.sqrt(share * (1 - share) / draws) + 1e-9


@pytest.mark.parametrize("kind", ["bpe", "wordpiece", "unigram"])
def test_a_prompt_and_what_follows_is_one_text(kind):
    model, tokenizer = writer("gpt2", kind), tokenizer_of(kind)
    prompt = "the cat sat on"
    (text,) = complete(model, tokenizer, [prompt], DecodingOptions(tokens=8))
    made = plain_greedy(model, tokenizer, prompt, 8)
    read = text_only(tokenizer).encode(prompt, add_special_tokens=False).ids
    assert prompt + text == tokenizer.decode(read + made)


def test_it_ends_at_the_end_token_and_at_the_last_position():
    model, tokenizer = writer("gpt2"), tokenizer_of()
    end = special_tokens(tokenizer).end
    made = plain_greedy(model, tokenizer, "the", 4)
    assert end not in made
    with torch.no_grad():
        kept = model.transformer.wte.weight[end].clone()
        model.transformer.wte.weight[end] = 2 * model.transformer.wte.weight[made[1]]
    try:
        changed = plain_greedy(model, tokenizer, "the", 30)
        assert changed[-1] == end
        assert complete(model, tokenizer, ["the"], DecodingOptions(30)) == [tokenizer.decode(changed)]
    finally:
        with torch.no_grad():
            model.transformer.wte.weight[end] = kept
    whole = plain_greedy(model, tokenizer, "the", POSITIONS - 1 - len(read_by(model, tokenizer, "the")[1]) + 1)
    assert complete(model, tokenizer, ["the"], DecodingOptions(1000)) == [tokenizer.decode(whole)]


def test_what_a_model_folder_says_of_generation_has_no_say(tmp_path):
    model, tokenizer = writer("gpt2"), tokenizer_of()
    save_model(model, str(tmp_path))
    (tmp_path / "generation_config.json").write_text(
        json.dumps({"do_sample": True, "repetition_penalty": 9.0, "num_beams": 3, "min_new_tokens": 9, "top_k": 2})
    )
    options = DecodingOptions(tokens=8)
    assert complete(load_model(str(tmp_path)), tokenizer, PROMPTS, options) == complete(
        model, tokenizer, PROMPTS, options
    )


def test_what_cannot_write_is_told_in_a_sentence():
    tokenizer, options = tokenizer_of(), DecodingOptions(3)
    sizes = {"layers": 1, "width": 16, "heads": 2, "inner": 16, "positions": 8}
    encoder = build_model(ModelOptions("bert", **sizes), special_tokens(tokenizer), vocabulary_size(tokenizer), 1)
    with pytest.raises(BitcipherError, match="A BertForMaskedLM cannot write text: give a model of gpt2, opt, t5"):
        complete(encoder, tokenizer, ["a"], options)
    with pytest.raises(BitcipherError, match="A GPT2Model cannot write text"):
        complete(GPT2Model(writer("gpt2").config), tokenizer, ["a"], options)
    small = build_model(ModelOptions("gpt2", **sizes), special_tokens(tokenizer), 100, 1)
    with pytest.raises(BitcipherError, match=r"The model knows 100 tokens, and the tokenizer has 2\d\d"):
        complete(small, tokenizer, ["a"], options)
    with pytest.raises(
        BitcipherError, match=r"Prompt 2 has \d+ tokens, and the model reads 39 with its answer: shorten"
    ):
        complete(writer("gpt2"), tokenizer, ["a", "the cat sat on the mat " * 9], options)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"tokens": 0}, "at least 1 new token, not 0"),
        ({"temperature": -1.0}, "must not be negative: -1.0"),
        ({"temperature": 1.0, "top_k": 0}, "top_k must be at least 1, not 0"),
        ({"temperature": 1.0, "top_p": 0.0}, "top_p is a share above 0, up to 1, not 0.0"),
        ({"temperature": 1.0, "top_p": 1.5}, "top_p is a share above 0, up to 1, not 1.5"),
        ({"top_k": 5}, "give a temperature too"),
    ],
)
def test_options_that_mean_nothing_are_refused(options, sentence):
    with pytest.raises(BitcipherError, match=sentence):
        DecodingOptions(**options)

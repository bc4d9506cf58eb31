"""Prompts → what a model writes after them."""

from collections.abc import Sequence
from typing import Any

import torch
from tokenizers import Tokenizer
from transformers import GenerationConfig, PreTrainedModel

from bitcipher.errors import BitcipherError
from training.counter_rng import key_of
from training.data import special_tokens, text_only, vocabulary_size
from training.decoding.options import DecodingOptions

WRITERS = ("gpt2", "opt", "t5")


@torch.no_grad()
def complete(
    model: PreTrainedModel, tokenizer: Tokenizer, prompts: Sequence[str], options: DecodingOptions
) -> list[str]:
    """What a model writes after each prompt, without the prompt.

    A decoder reads a prompt behind the token that ends a text, as a new document; an encoder-decoder reads it as input,
    closed by that token. Sampling depends on the seed and the prompt's number, not on other prompts.

    Args:
        model: with a head that writes; it is left in evaluation mode.
        tokenizer: of the model.
        prompts: any texts; the names of special tokens in them are letters like any others.
        options: how to choose tokens. What a model's own generation_config.json says is not looked at.

    Raises:
        BitcipherError: if the model cannot write, if it does not fit the tokenizer, or if a prompt leaves no room.
    """
    family, known = model.config.model_type, vocabulary_size(tokenizer)
    if family not in WRITERS or not model.can_generate():
        raise BitcipherError(f"A {type(model).__name__} cannot write text: give a model of {', '.join(WRITERS)}.")
    if known > model.config.vocab_size:
        raise BitcipherError(
            f"The model knows {model.config.vocab_size:,} tokens, and the tokenizer has {known:,}: give the tokenizer "
            "that the model was trained with."
        )
    encoder = text_only(tokenizer)
    model.eval()
    model.generation_config = GenerationConfig()
    read = [encoder.encode(prompt, add_special_tokens=False).ids for prompt in prompts]
    tokens = [_room(model, number, len(ids), options.tokens) for number, ids in enumerate(read, 1)]
    write = _continue if family != "t5" else _answer
    written = []
    for number, (ids, most) in enumerate(zip(read, tokens, strict=True)):
        with torch.random.fork_rng():
            torch.manual_seed(key_of(options.seed, "decoding", number))
            written.append(write(model, tokenizer, ids, most, options))
    return written


def _room(model: PreTrainedModel, number: int, prompt: int, wanted: int) -> int:
    """How many tokens may be written behind so many."""
    if model.config.model_type == "t5":  # any number
        return wanted
    positions = model.config.max_position_embeddings
    if prompt + 1 >= positions:
        raise BitcipherError(
            f"Prompt {number} has {prompt:,} tokens, and the model reads {positions - 1:,} with its answer: shorten it."
        )
    return min(wanted, positions - 1 - prompt)


def _continue(
    model: PreTrainedModel, tokenizer: Tokenizer, prompt: list[int], most: int, options: DecodingOptions
) -> str:
    inputs = [special_tokens(tokenizer).end, *prompt]
    new = _generate(model, tokenizer, inputs, most, options)[len(inputs) :]
    # Not of the new tokens alone: many tokenizers leave out the space before the first word.
    before, whole = (tokenizer.decode(ids) for ids in (prompt, prompt + new))
    return whole.removeprefix(before)


def _answer(
    model: PreTrainedModel, tokenizer: Tokenizer, prompt: list[int], most: int, options: DecodingOptions
) -> str:
    return tokenizer.decode(_generate(model, tokenizer, [*prompt, special_tokens(tokenizer).end], most, options))


def _generate(
    model: PreTrainedModel, tokenizer: Tokenizer, inputs: list[int], most: int, options: DecodingOptions
) -> list[int]:
    specials = special_tokens(tokenizer)
    choice: dict[str, Any] = {"do_sample": options.temperature > 0}
    if choice["do_sample"]:
        # 0 and 1 are how transformers says that none is left out.
        choice |= {"temperature": options.temperature, "top_k": options.top_k or 0, "top_p": options.top_p or 1.0}
    config = GenerationConfig(
        max_new_tokens=most,
        eos_token_id=specials.end,
        pad_token_id=specials.pad,
        decoder_start_token_id=getattr(model.config, "decoder_start_token_id", None),
        **choice,
    )
    ids = torch.tensor([inputs], device=model.device)
    return model.generate(ids, attention_mask=torch.ones_like(ids), generation_config=config)[0].tolist()

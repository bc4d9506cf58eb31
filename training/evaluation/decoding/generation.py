"""Text generation from prompts."""

from collections.abc import Sequence
from typing import Any

import torch
from tokenizers import Tokenizer
from transformers import GenerationConfig, PreTrainedModel

from bitcipher.errors import BitcipherError
from pipelines.tokenizers.tokenizer_json import vocab_size
from training.data.counter_rng import derive_key
from training.data.special_tokens import SpecialTokens, special_tokens
from training.data.tokenizer_files import plain_text_tokenizer
from training.evaluation.decoding.options import DecodingOptions
from training.models.encoders import architecture_of, max_sequence_length
from training.models.options import DECODERS, ENCODER_DECODERS

ARCHITECTURES = DECODERS + ENCODER_DECODERS


@torch.no_grad()
def generate(
    model: PreTrainedModel, tokenizer: Tokenizer, prompts: Sequence[str], options: DecodingOptions
) -> list[str]:
    """Return the text that a model generates for each prompt, without the prompt.

    A decoder gets a prompt after the end token, as a new document. An encoder-decoder gets it as input, followed by the
    end token. Samples depend on the seed and the index of a prompt in the list, not on the other prompts.

    Args:
        model: model with a language-modeling head; it is set to evaluation mode.
        tokenizer: tokenizer of the model.
        prompts: texts; names of special tokens in a prompt are encoded as text.
        options: greedy search or sampling, and the maximum number of tokens. The model's own generation_config.json is
            ignored.

    Raises:
        BitcipherError: if the model cannot generate, it does not match the tokenizer, or a prompt is too long.
    """
    prepare_model(model, tokenizer, ARCHITECTURES)
    encoder, special = plain_text_tokenizer(tokenizer), special_tokens(tokenizer)
    encoded = [encoder.encode(prompt, add_special_tokens=False).ids for prompt in prompts]
    limits = [_max_new_tokens(model, number, len(ids), options.max_new_tokens) for number, ids in enumerate(encoded, 1)]
    generate_one = _answer if model.config.is_encoder_decoder else _continue
    texts = []
    for number, (ids, limit) in enumerate(zip(encoded, limits, strict=True)):
        config = generation_config(model, special, limit, options)
        with torch.random.fork_rng():
            torch.manual_seed(derive_key(options.seed, "decoding", number))
            texts.append(generate_one(model, tokenizer, ids, special.end, config))
    return texts


def prepare_model(model: PreTrainedModel, tokenizer: Tokenizer, architectures: Sequence[str]) -> None:
    """Set a model to evaluation mode, without its own generation_config.json.

    Args:
        model: model with a language-modeling head.
        tokenizer: tokenizer of the model.
        architectures: architectures that the caller supports.

    Raises:
        BitcipherError: if the model cannot generate, is of another architecture, or does not match the tokenizer.
    """
    n_tokens = vocab_size(tokenizer)
    if architecture_of(model.config) not in architectures or not model.can_generate():
        raise BitcipherError(
            f"A {type(model).__name__} cannot generate text; use a model of {', '.join(architectures)}."
        )
    if n_tokens > model.config.vocab_size:
        raise BitcipherError(
            f"The model has {model.config.vocab_size:,} tokens, but the tokenizer has {n_tokens:,}; use the tokenizer "
            "that the model was trained with."
        )
    model.eval()
    model.generation_config = GenerationConfig()


def _max_new_tokens(model: PreTrainedModel, number: int, prompt_length: int, requested: int) -> int:
    """Return the number of tokens that fit after a prompt, at most `requested`."""
    positions = max_sequence_length(model.config)
    if positions is None:
        return requested
    if prompt_length + 1 >= positions:
        raise BitcipherError(
            f"Prompt {number} has {prompt_length:,} tokens, but the model reads at most {positions - 1:,} with the "
            "generated text; shorten the prompt."
        )
    return min(requested, positions - 1 - prompt_length)


def _continue(
    model: PreTrainedModel, tokenizer: Tokenizer, prompt: list[int], end: int, config: GenerationConfig
) -> str:
    inputs = [end, *prompt]
    new = _generate_ids(model, inputs, config)[len(inputs) :]
    # The new tokens are not decoded alone, because many tokenizers drop the space before the first word.
    prompt_text, text = (tokenizer.decode(ids) for ids in (prompt, prompt + new))
    return text.removeprefix(prompt_text)


def _answer(model: PreTrainedModel, tokenizer: Tokenizer, prompt: list[int], end: int, config: GenerationConfig) -> str:
    return tokenizer.decode(_generate_ids(model, [*prompt, end], config))


def generation_config(
    model: PreTrainedModel, special: SpecialTokens, max_new_tokens: int, options: DecodingOptions
) -> GenerationConfig:
    """Return the settings of transformers' `generate` for decoding options."""
    sampling: dict[str, Any] = {"do_sample": options.temperature > 0}
    if sampling["do_sample"]:
        # transformers disables these filters with 0 and 1.
        sampling |= {"temperature": options.temperature, "top_k": options.top_k or 0, "top_p": options.top_p or 1.0}
    return GenerationConfig(
        max_new_tokens=max_new_tokens,
        eos_token_id=special.end,
        pad_token_id=special.pad,
        decoder_start_token_id=getattr(model.config, "decoder_start_token_id", None),
        **sampling,
    )


def _generate_ids(model: PreTrainedModel, inputs: list[int], config: GenerationConfig) -> list[int]:
    ids = torch.tensor([inputs], device=model.device)
    return model.generate(ids, attention_mask=torch.ones_like(ids), generation_config=config)[0].tolist()

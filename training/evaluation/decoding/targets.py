"""Target texts of an encoder-decoder for many source texts, by greedy search in batches."""

from collections import defaultdict
from collections.abc import Callable, Sequence

import torch
from tokenizers import Tokenizer
from transformers import PreTrainedModel

from training.data.special_tokens import special_tokens
from training.data.tokenizer_files import plain_text_tokenizer
from training.evaluation.decoding.generation import generation_config, prepare_model
from training.evaluation.decoding.options import DecodingOptions
from training.models.options import ENCODER_DECODERS

# Maximum number of sources of a batch.
BATCH_SIZE = 64


@torch.no_grad()
def generate_targets(
    model: PreTrainedModel,
    tokenizer: Tokenizer,
    sources: Sequence[str],
    max_new_tokens: int,
    advance: Callable[[int], None] = lambda number: None,
) -> list[str]:
    """Return the target that an encoder-decoder generates for each source by greedy search.

    Sources with equally many tokens form a batch, so no source is padded, and `generate` gives the same texts.

    Args:
        model: encoder-decoder; it is set to evaluation mode.
        tokenizer: tokenizer of the model.
        sources: texts; names of special tokens in them are encoded as text.
        max_new_tokens: maximum number of tokens of a target, with its end token.
        advance: called with the number of sources of each finished batch.

    Raises:
        BitcipherError: if the model is no encoder-decoder, or does not match the tokenizer.
    """
    prepare_model(model, tokenizer, ENCODER_DECODERS)
    encoder, special = plain_text_tokenizer(tokenizer), special_tokens(tokenizer)
    config = generation_config(model, special, max_new_tokens, DecodingOptions())
    encoded = [encoding.ids for encoding in encoder.encode_batch(list(sources), add_special_tokens=False)]
    numbers_by_length: dict[int, list[int]] = defaultdict(list)
    for number, ids in enumerate(encoded):
        numbers_by_length[len(ids)].append(number)
    targets = [""] * len(sources)
    for _, numbers in sorted(numbers_by_length.items()):
        for start in range(0, len(numbers), BATCH_SIZE):
            batch = numbers[start : start + BATCH_SIZE]
            inputs = torch.tensor([[*encoded[number], special.end] for number in batch], device=model.device)
            outputs = model.generate(inputs, attention_mask=torch.ones_like(inputs), generation_config=config)
            for number, ids in zip(batch, outputs.tolist(), strict=True):
                targets[number] = tokenizer.decode(_before_end(ids[1:], special.end))
            advance(len(batch))
    return targets


def _before_end(ids: list[int], end: int) -> list[int]:
    """Return the tokens before the first end token; padding follows it."""
    return ids[: ids.index(end)] if end in ids else ids

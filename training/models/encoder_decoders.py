"""Configurations of encoder-decoder models: T5 (Raffel et al. 2020)."""

from typing import TYPE_CHECKING

import torch
from torch import nn
from transformers import T5Config, T5ForConditionalGeneration

from training.models.options import ModelOptions

if TYPE_CHECKING:
    from training.data.special_tokens import SpecialTokens


def t5_config(options: ModelOptions, special_tokens: "SpecialTokens", vocab_size: int) -> T5Config:
    """Return the configuration of a T5. Its decoder starts with the padding token, as in the original."""
    return T5Config(
        vocab_size=vocab_size,
        d_model=options.hidden_size,
        d_kv=options.hidden_size // options.num_attention_heads,
        d_ff=options.intermediate_size,
        num_layers=options.num_hidden_layers,
        num_heads=options.num_attention_heads,
        dropout_rate=options.dropout,
        relative_attention_num_buckets=options.relative_attention_num_buckets,
        tie_word_embeddings=options.tie_word_embeddings,
        pad_token_id=special_tokens.pad,
        eos_token_id=special_tokens.end,
        decoder_start_token_id=special_tokens.pad,
    )


def untie_t5(model: T5ForConditionalGeneration) -> None:
    """Give the output layer of a T5 its own weight: transformers 5.23 ties it even if the configuration forbids it.

    The standard deviation of the weight is hidden_size**-0.5. T5 scales the logits of a tied output layer by that
    factor, so the initial logits of tied and untied models have the same size.
    """
    weight = torch.randn(model.lm_head.weight.shape) * model.config.d_model**-0.5
    model.lm_head.weight = nn.Parameter(weight)
    # Otherwise a later `tie_weights` would tie the output layer again.
    model.config.tie_word_embeddings = False

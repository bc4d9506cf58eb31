"""Configurations of encoders with a decoder: T5 (Raffel et al. 2020)."""

from typing import TYPE_CHECKING

import torch
from torch import nn
from transformers import T5Config, T5ForConditionalGeneration

from training.models.options import ModelOptions

if TYPE_CHECKING:
    from training.data import SpecialTokens


def t5_config(options: ModelOptions, specials: "SpecialTokens", vocabulary: int) -> T5Config:
    """A T5 whose decoder starts with the padding token, and scales its output when its tables are tied."""
    return T5Config(
        vocab_size=vocabulary,
        d_model=options.width,
        d_kv=options.width // options.heads,
        d_ff=options.inner,
        num_layers=options.layers,
        num_heads=options.heads,
        dropout_rate=options.dropout,
        tie_word_embeddings=options.tied,
        pad_token_id=specials.pad,
        eos_token_id=specials.end,
        decoder_start_token_id=specials.pad,
    )


def untie_t5(model: T5ForConditionalGeneration) -> None:
    """Give T5's output a table of its own: transformers (5.23) ties it whatever the configuration says.

    Its numbers have a deviation of width**-0.5, so that logits begin as large as those of the scaled, tied output.
    """
    weight = torch.randn(model.lm_head.weight.shape) * model.config.d_model**-0.5
    model.lm_head.weight = nn.Parameter(weight)
    # Else a later `tie_weights` would tie it again.
    model.config.tie_word_embeddings = False

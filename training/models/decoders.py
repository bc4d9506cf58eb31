"""Configurations of decoders: GPT-2 (Radford et al. 2019) and OPT (Zhang et al. 2022)."""

from typing import TYPE_CHECKING

from transformers import GPT2Config, OPTConfig

from training.models.options import ModelOptions

if TYPE_CHECKING:
    from training.data import SpecialTokens


def gpt2_config(options: ModelOptions, specials: "SpecialTokens", vocabulary: int) -> GPT2Config:
    """A GPT-2."""
    return GPT2Config(
        vocab_size=vocabulary,
        n_embd=options.width,
        n_layer=options.layers,
        n_head=options.heads,
        n_inner=options.inner,
        n_positions=options.positions,
        embd_pdrop=options.dropout,
        attn_pdrop=options.dropout,
        resid_pdrop=options.dropout,
        tie_word_embeddings=options.tied,
        pad_token_id=specials.pad,
        bos_token_id=specials.begin,
        eos_token_id=specials.end,
    )


def opt_config(options: ModelOptions, specials: "SpecialTokens", vocabulary: int) -> OPTConfig:
    """An OPT that normalises before each part, as all published sizes but one; it adds its own offset to positions."""
    # OPT does not train the padding token's embedding: a token that has another role too must not be called padding.
    alone = specials.pad not in (specials.begin, specials.end)
    return OPTConfig(
        vocab_size=vocabulary,
        hidden_size=options.width,
        num_hidden_layers=options.layers,
        num_attention_heads=options.heads,
        ffn_dim=options.inner,
        max_position_embeddings=options.positions,
        dropout=options.dropout,
        attention_dropout=options.dropout,
        tie_word_embeddings=options.tied,
        pad_token_id=specials.pad if alone else None,
        bos_token_id=specials.begin,
        eos_token_id=specials.end,
    )

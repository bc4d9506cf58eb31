"""Configurations of decoder models: GPT-2 (Radford et al. 2019) and OPT (Zhang et al. 2022)."""

from typing import TYPE_CHECKING

from transformers import GPT2Config, OPTConfig

from training.models.options import ModelOptions

if TYPE_CHECKING:
    from training.data.special_tokens import SpecialTokens


def gpt2_config(options: ModelOptions, special_tokens: "SpecialTokens", vocab_size: int) -> GPT2Config:
    """Return the configuration of a GPT-2."""
    return GPT2Config(
        vocab_size=vocab_size,
        n_embd=options.hidden_size,
        n_layer=options.num_hidden_layers,
        n_head=options.num_attention_heads,
        n_inner=options.intermediate_size,
        n_positions=options.max_position_embeddings,
        initializer_range=options.effective_initializer_range,
        embd_pdrop=options.dropout,
        attn_pdrop=options.dropout,
        resid_pdrop=options.dropout,
        tie_word_embeddings=options.tie_word_embeddings,
        pad_token_id=special_tokens.pad,
        bos_token_id=special_tokens.begin,
        eos_token_id=special_tokens.end,
    )


def opt_config(options: ModelOptions, special_tokens: "SpecialTokens", vocab_size: int) -> OPTConfig:
    """Return the configuration of a pre-norm OPT, like all published sizes but one."""
    # OPT does not train the embedding of the padding token, so a token with another role must not be called padding.
    has_pad = special_tokens.pad not in (special_tokens.begin, special_tokens.end)
    return OPTConfig(
        vocab_size=vocab_size,
        hidden_size=options.hidden_size,
        num_hidden_layers=options.num_hidden_layers,
        num_attention_heads=options.num_attention_heads,
        ffn_dim=options.intermediate_size,
        # transformers adds OPT's offset of the positions itself.
        max_position_embeddings=options.max_position_embeddings,
        init_std=options.effective_initializer_range,
        dropout=options.dropout,
        attention_dropout=options.dropout,
        tie_word_embeddings=options.tie_word_embeddings,
        pad_token_id=special_tokens.pad if has_pad else None,
        bos_token_id=special_tokens.begin,
        eos_token_id=special_tokens.end,
    )

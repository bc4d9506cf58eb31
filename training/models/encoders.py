"""Configurations of encoders.

BERT (Devlin et al. 2019), RoBERTa (Liu et al. 2019), DeBERTa (He et al. 2020), ModernBERT (Warner et al. 2024).
"""

from typing import TYPE_CHECKING, Any

from transformers import BertConfig, DebertaV2Config, ModernBertConfig, PreTrainedConfig, RobertaConfig

from bitcipher.errors import BitcipherError
from training.models.options import TRAITS, ArchitectureTraits, ModelOptions
from training.models.projected import ProjectedRobertaConfig

if TYPE_CHECKING:
    from training.data.special_tokens import SpecialTokens

# Rows before the first position in RoBERTa's position embeddings: published models pad with token 1 and count
# positions from 2.
ROBERTA_OFFSET = 2


def bert_config(options: ModelOptions, special_tokens: "SpecialTokens", vocab_size: int) -> BertConfig:
    """Return the configuration of a BERT with two token types.

    Raises:
        BitcipherError: if the tokenizer has no dedicated padding token.
    """
    return BertConfig(
        max_position_embeddings=options.max_position_embeddings,
        **_dropouts(options),
        **_shared(options, special_tokens, vocab_size),
    )


def roberta_config(options: ModelOptions, special_tokens: "SpecialTokens", vocab_size: int) -> RobertaConfig:
    """Return the configuration of a RoBERTa, or of a projected RoBERTa if `embedding_size` is set.

    RoBERTa counts positions from the id of the padding token, so its position embeddings have that many more rows.

    Raises:
        BitcipherError: if the tokenizer has no dedicated padding token.
    """
    positions = options.max_position_embeddings + max(ROBERTA_OFFSET, special_tokens.pad + 1)
    sizes = {
        "max_position_embeddings": positions,
        **_dropouts(options),
        **_shared(options, special_tokens, vocab_size),
    }
    if options.embedding_size is None:
        return RobertaConfig(**sizes)
    return ProjectedRobertaConfig(embedding_size=options.embedding_size, **sizes)


def modernbert_config(options: ModelOptions, special_tokens: "SpecialTokens", vocab_size: int) -> ModernBertConfig:
    """Return the configuration of a ModernBERT.

    Raises:
        BitcipherError: if the tokenizer has no dedicated padding token.
    """
    return ModernBertConfig(
        max_position_embeddings=options.max_position_embeddings,
        embedding_dropout=options.dropout,
        attention_dropout=options.dropout,
        mlp_dropout=options.dropout,
        classifier_dropout=options.dropout,
        global_attn_every_n_layers=options.global_attn_every_n_layers,
        local_attention=options.local_attention,
        cls_token_id=special_tokens.begin,
        sep_token_id=special_tokens.end,
        **_shared(options, special_tokens, vocab_size),
    )


def deberta_config(options: ModelOptions, special_tokens: "SpecialTokens", vocab_size: int) -> DebertaV2Config:
    """Return the configuration of a DeBERTa with distances up to the maximum sequence length.

    Raises:
        BitcipherError: if the tokenizer has no dedicated padding token.
    """
    return DebertaV2Config(
        max_position_embeddings=options.max_position_embeddings,
        relative_attention=True,
        max_relative_positions=options.max_position_embeddings,
        pos_att_type=["c2p", "p2c"],
        position_biased_input=False,
        **_dropouts(options),
        **_shared(options, special_tokens, vocab_size),
    )


def attention_kernel(config: PreTrainedConfig) -> str:
    """Return the implementation of attention: PyTorch's kernel, which has no disentangled attention."""
    return "eager" if isinstance(config, DebertaV2Config) else "sdpa"


def architecture_of(config: PreTrainedConfig) -> str:
    """Return the `ModelOptions.architecture` of a configuration; a projected RoBERTa is a `roberta`."""
    if isinstance(config, RobertaConfig):
        return "roberta"
    return "deberta" if isinstance(config, DebertaV2Config) else config.model_type


def traits_of(config: PreTrainedConfig) -> ArchitectureTraits:
    """Return the traits of the architecture of a configuration."""
    return TRAITS[architecture_of(config)]


def _dropouts(options: ModelOptions) -> dict[str, Any]:
    return {"hidden_dropout_prob": options.dropout, "attention_probs_dropout_prob": options.dropout}


def _shared(options: ModelOptions, special_tokens: "SpecialTokens", vocab_size: int) -> dict[str, Any]:
    # The embedding of the padding token is not trained, and RoBERTa gives padding no position.
    if special_tokens.pad in (special_tokens.begin, special_tokens.end):
        raise BitcipherError(
            f"A {options.architecture} needs a dedicated padding token, but token {special_tokens.pad} also begins or "
            "ends texts; add <pad> to the tokenizer."
        )
    return {
        "vocab_size": vocab_size,
        "hidden_size": options.hidden_size,
        "num_hidden_layers": options.num_hidden_layers,
        "num_attention_heads": options.num_attention_heads,
        "intermediate_size": options.intermediate_size,
        "initializer_range": options.effective_initializer_range,
        "tie_word_embeddings": options.tie_word_embeddings,
        "pad_token_id": special_tokens.pad,
        "bos_token_id": special_tokens.begin,
        "eos_token_id": special_tokens.end,
    }


def max_sequence_length(config: PreTrainedConfig) -> int | None:
    """Return the maximum sequence length of a model in tokens, or None if it has no limit, like T5."""
    positions = getattr(config, "max_position_embeddings", None)
    if positions is not None and traits_of(config).positions_after_padding:
        return positions - max(ROBERTA_OFFSET, config.pad_token_id + 1)
    return positions

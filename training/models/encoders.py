"""Configurations of encoders: BERT (Devlin et al. 2019) and RoBERTa (Liu et al. 2019)."""

from typing import TYPE_CHECKING

from transformers import BertConfig, PreTrainedConfig, RobertaConfig

from bitcipher.errors import BitcipherError
from training.models.options import ModelOptions
from training.models.projected import ProjectedRobertaConfig

if TYPE_CHECKING:
    from training.data import SpecialTokens

# Rows before the first position in RoBERTa's table: published models pad with token 1 and count positions from 2.
ROBERTA_OFFSET = 2


def bert_config(options: ModelOptions, specials: "SpecialTokens", vocabulary: int) -> BertConfig:
    """A BERT with two token types.

    Raises:
        BitcipherError: if the tokenizer has no padding token of its own.
    """
    return BertConfig(max_position_embeddings=options.positions, **_shared(options, specials, vocabulary))


def roberta_config(options: ModelOptions, specials: "SpecialTokens", vocabulary: int) -> RobertaConfig:
    """A RoBERTa, whose table of positions begins after the padding token's number; one of `projected` if asked for.

    Raises:
        BitcipherError: if the tokenizer has no padding token of its own.
    """
    positions = options.positions + max(ROBERTA_OFFSET, specials.pad + 1)
    sizes = {"max_position_embeddings": positions, **_shared(options, specials, vocabulary)}
    if options.embedding is None:
        return RobertaConfig(**sizes)
    return ProjectedRobertaConfig(embedding_size=options.embedding, **sizes)


def architecture_of(config: PreTrainedConfig) -> str:
    """What `ModelOptions.architecture` calls a model of this configuration: one of `projected` is a RoBERTa too."""
    return "roberta" if isinstance(config, RobertaConfig) else config.model_type


def _shared(options: ModelOptions, specials: "SpecialTokens", vocabulary: int) -> dict[str, object]:
    # The padding token's embedding is not trained, and RoBERTa does not count it as a position.
    if specials.pad in (specials.begin, specials.end):
        raise BitcipherError(
            f"A model of the kind {options.architecture} needs a padding token that is no other token too, "
            f"and token {specials.pad} also begins or ends texts: add <pad> to the tokenizer."
        )
    return {
        "vocab_size": vocabulary,
        "hidden_size": options.width,
        "num_hidden_layers": options.layers,
        "num_attention_heads": options.heads,
        "intermediate_size": options.inner,
        "hidden_dropout_prob": options.dropout,
        "attention_probs_dropout_prob": options.dropout,
        "tie_word_embeddings": options.tied,
        "pad_token_id": specials.pad,
        "bos_token_id": specials.begin,
        "eos_token_id": specials.end,
    }

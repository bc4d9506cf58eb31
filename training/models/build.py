"""A model of options: with random weights of a seed, or those of a checkpoint."""

from typing import TYPE_CHECKING

import torch
from transformers import (
    BertForMaskedLM,
    BertForPreTraining,
    GPT2LMHeadModel,
    OPTForCausalLM,
    PreTrainedConfig,
    PreTrainedModel,
    RobertaForMaskedLM,
    T5ForConditionalGeneration,
)

from bitcipher.errors import BitcipherError
from training.models.checkpoint import load_as, read_config
from training.models.decoders import gpt2_config, opt_config
from training.models.encoder_decoders import t5_config, untie_t5
from training.models.encoders import architecture_of, bert_config, roberta_config
from training.models.options import ModelOptions
from training.models.parts import freeze_unread, is_tied
from training.models.projected import ProjectedRobertaForMaskedLM

if TYPE_CHECKING:
    from training.data import SpecialTokens

_FAMILIES = {
    "bert": (bert_config, BertForMaskedLM),
    "roberta": (roberta_config, RobertaForMaskedLM),
    "gpt2": (gpt2_config, GPT2LMHeadModel),
    "opt": (opt_config, OPTForCausalLM),
    "t5": (t5_config, T5ForConditionalGeneration),
}

# Sizes by the names that options and the families' configurations have for them.
_SIZES = {
    "layers": ("num_hidden_layers",),
    "width": ("hidden_size",),
    "heads": ("num_attention_heads",),
    "inner": ("intermediate_size", "n_inner", "ffn_dim", "d_ff"),
}
_DROPOUTS = (
    *("hidden_dropout_prob", "attention_probs_dropout_prob"),
    *("embd_pdrop", "attn_pdrop", "resid_pdrop"),
    *("dropout", "attention_dropout", "dropout_rate"),
)


def build_model(options: ModelOptions, specials: "SpecialTokens", vocabulary: int, seed: int) -> PreTrainedModel:
    """A model in float32 on the CPU, in training mode, with PyTorch's own attention ("sdpa").

    Args:
        options: its shape, and the checkpoint that it starts from if there is one.
        specials: the tokenizer's special tokens.
        vocabulary: the tokenizer's highest id and one more; a checkpoint may have rows for more.
        seed: of the random weights. The caller's random numbers go on as if no model had been built.

    Raises:
        BitcipherError: if the tokenizer or the checkpoint does not fit the options.
    """
    make_config, kind = _FAMILIES[options.architecture]
    if options.next_sentence:
        kind = BertForPreTraining
    if options.embedding is not None:
        kind = ProjectedRobertaForMaskedLM
    config = make_config(options, specials, vocabulary)
    # Weights are drawn on the CPU alone; `torch.manual_seed` would seed the caller's accelerators too.
    with torch.random.fork_rng(devices=[]):
        torch.default_generator.manual_seed(seed)
        if options.checkpoint is not None:
            return _from_checkpoint(options, config, kind)
        config._attn_implementation = "sdpa"
        model = kind(config)
        if options.architecture == "t5" and not options.tied:
            untie_t5(model)
    freeze_unread(model)
    return model


def _from_checkpoint(options: ModelOptions, wanted: PreTrainedConfig, kind: type[PreTrainedModel]) -> PreTrainedModel:
    folder = options.checkpoint
    config = read_config(folder)
    if architecture_of(config) != options.architecture:
        raise BitcipherError(
            f"{folder} holds a model of the kind {architecture_of(config)}, not {options.architecture}."
        )
    _check_embedding(options, config)
    for option in _SIZES:
        stored = _size(config, option)
        if stored != getattr(options, option):
            raise BitcipherError(
                f"The model in {folder} has {option} {stored}, and the options say {getattr(options, option)}: "
                f"set {option} to {stored}."
            )
    if config.vocab_size < wanted.vocab_size:
        raise BitcipherError(
            f"The model in {folder} knows {config.vocab_size:,} tokens, and the tokenizer has "
            f"{wanted.vocab_size:,}: use the tokenizer that the model was trained with."
        )
    if config.pad_token_id is not None and wanted.pad_token_id not in (None, config.pad_token_id):
        raise BitcipherError(
            f"The model in {folder} pads with token {config.pad_token_id}, and the tokenizer with token "
            f"{wanted.pad_token_id}: use the tokenizer that the model was trained with."
        )
    most = getattr(config, "max_position_embeddings", None)
    if most is not None and most < wanted.max_position_embeddings:
        missing = wanted.max_position_embeddings - most
        raise BitcipherError(
            f"The model in {folder} reads sequences of {options.positions - missing} tokens at most: "
            f"set positions to that, not to {options.positions}."
        )
    for name in _DROPOUTS:
        if hasattr(wanted, name):
            setattr(config, name, getattr(wanted, name))
    model = load_as(folder, kind, config)
    if is_tied(model) != options.tied:
        raise BitcipherError(
            f"The model in {folder} has {'one table for' if is_tied(model) else 'tables of their own for'} input and "
            f"output: set tied to {str(is_tied(model)).lower()}."
        )
    return model.train()


def _check_embedding(options: ModelOptions, config: PreTrainedConfig) -> None:
    stored = getattr(config, "embedding_size", None)
    if stored == options.embedding:
        return
    if stored is None:
        raise BitcipherError(
            f"The model in {options.checkpoint} has embeddings as wide as its states, and the options say embedding "
            f"{options.embedding}: leave embedding out."
        )
    raise BitcipherError(
        f"The model in {options.checkpoint} has embeddings of {stored} numbers and a projection: "
        f"set embedding to {stored} and tied to false."
    )


def _size(config: PreTrainedConfig, option: str) -> int:
    found = next(getattr(config, name) for name in _SIZES[option] if hasattr(config, name))
    # GPT-2's configurations leave this size out where it is the common one.
    return 4 * config.hidden_size if found is None else found

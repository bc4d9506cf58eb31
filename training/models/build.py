"""Model construction from options: random weights from a seed, or the weights of a checkpoint."""

from typing import TYPE_CHECKING

import torch
from transformers import (
    BertForMaskedLM,
    BertForPreTraining,
    GPT2LMHeadModel,
    ModernBertForMaskedLM,
    OPTForCausalLM,
    PreTrainedConfig,
    PreTrainedModel,
    RobertaForMaskedLM,
    T5ForConditionalGeneration,
)

from bitcipher.errors import BitcipherError
from training.models.checkpoint import load_model_as, read_config
from training.models.deberta import DebertaWithMaskDecoder
from training.models.decoders import gpt2_config, opt_config
from training.models.encoder_decoders import t5_config, untie_t5
from training.models.encoders import (
    architecture_of,
    attention_kernel,
    bert_config,
    deberta_config,
    modernbert_config,
    roberta_config,
)
from training.models.next_sentence import ModernBertForPreTraining
from training.models.options import ModelOptions
from training.models.parts import freeze_unused_parameters, is_tied
from training.models.projected import ProjectedRobertaForMaskedLM
from training.models.replaced_tokens import build_pair
from training.models.sentence_views import add_projector

if TYPE_CHECKING:
    from training.data.special_tokens import SpecialTokens

_FAMILIES = {
    "bert": (bert_config, BertForMaskedLM),
    "roberta": (roberta_config, RobertaForMaskedLM),
    "modernbert": (modernbert_config, ModernBertForMaskedLM),
    "deberta": (deberta_config, DebertaWithMaskDecoder),
    "gpt2": (gpt2_config, GPT2LMHeadModel),
    "opt": (opt_config, OPTForCausalLM),
    "t5": (t5_config, T5ForConditionalGeneration),
}

# Classes with the next-sentence head.
_WITH_NEXT_SENTENCE = {"bert": BertForPreTraining, "modernbert": ModernBertForPreTraining}

# Options that a checkpoint must match, and their names in the configurations of the families.
_SIZES = {
    "num_hidden_layers": ("num_hidden_layers",),
    "hidden_size": ("hidden_size",),
    "num_attention_heads": ("num_attention_heads",),
    "intermediate_size": ("intermediate_size", "n_inner", "ffn_dim", "d_ff"),
}
_SIZES_OF_ARCHITECTURE = {
    "t5": {"relative_attention_num_buckets": ("relative_attention_num_buckets",)},
    "modernbert": {"local_attention": ("local_attention",)},
}
_DROPOUTS = (
    *("hidden_dropout_prob", "attention_probs_dropout_prob"),
    *("embd_pdrop", "attn_pdrop", "resid_pdrop"),
    *("dropout", "attention_dropout", "dropout_rate"),
    *("embedding_dropout", "mlp_dropout", "classifier_dropout"),
)


def build_model(options: ModelOptions, special_tokens: "SpecialTokens", vocab_size: int, seed: int) -> PreTrainedModel:
    """Build a model in float32 on the CPU, in training mode, with PyTorch's attention kernel where it fits.

    With `options.generator_layers`, the model is a `ReplacedTokenModel`; with `options.projector_size`, it is a
    `SentenceViewModel`.

    Args:
        options: architecture, sizes, and the checkpoint to start from, if any.
        special_tokens: ids of the tokenizer's special tokens.
        vocab_size: the tokenizer's highest id plus one; the embeddings of a checkpoint can have more rows.
        seed: seed of the random weights. The caller's random state is restored.

    Raises:
        BitcipherError: if the tokenizer or the checkpoint does not match the options.
    """
    make_config, model_class = _FAMILIES[options.architecture]
    if options.next_sentence:
        model_class = _WITH_NEXT_SENTENCE[options.architecture]
    if options.embedding_size is not None:
        model_class = ProjectedRobertaForMaskedLM
    config = make_config(options, special_tokens, vocab_size)
    # Weights are drawn on the CPU only; `torch.manual_seed` would seed the caller's accelerators too.
    with torch.random.fork_rng(devices=[]):
        torch.default_generator.manual_seed(seed)
        if options.projector_size is not None:
            model = build_model(options.copy_with(projector_size=None), special_tokens, vocab_size, seed)
            return add_projector(model, options.projector_size).train()
        if options.checkpoint is not None:
            return _from_checkpoint(options, options.checkpoint, config, model_class)
        if options.generator_layers is not None:
            sizes = options.copy_with(num_hidden_layers=options.generator_layers, generator_layers=None)
            return build_pair(make_config(sizes, special_tokens, vocab_size), config, options.embedding_sharing)
        config._attn_implementation = attention_kernel(config)
        model = model_class(config)
        if options.architecture == "t5" and not options.tie_word_embeddings:
            untie_t5(model)
    freeze_unused_parameters(model)
    return model


def _from_checkpoint(
    options: ModelOptions, folder: str, expected: PreTrainedConfig, model_class: type[PreTrainedModel]
) -> PreTrainedModel:
    config = read_config(folder)
    _check_config(options, folder, config, expected)
    for name in _DROPOUTS:
        if hasattr(expected, name):
            setattr(config, name, getattr(expected, name))
    model = load_model_as(folder, model_class, config)
    if is_tied(model) != options.tie_word_embeddings:
        raise BitcipherError(
            f"The model in {folder} has {'tied' if is_tied(model) else 'untied'} word embeddings; set "
            f"`model.tie_word_embeddings` to {str(is_tied(model)).lower()}."
        )
    return model.train()


def _check_config(options: ModelOptions, folder: str, config: PreTrainedConfig, expected: PreTrainedConfig) -> None:
    if architecture_of(config) != options.architecture:
        raise BitcipherError(
            f"{folder} holds a {architecture_of(config)} model, but `model.architecture` is {options.architecture}."
        )
    stored_embedding = getattr(config, "embedding_size", None)
    if stored_embedding != options.embedding_size:
        fix = "leave it out" if stored_embedding is None else f"set it to {stored_embedding} and untie the embeddings"
        raise BitcipherError(
            f"The model in {folder} has embedding_size {stored_embedding}, but `model.embedding_size` is "
            f"{options.embedding_size}; {fix}."
        )
    for option, names in (_SIZES | _SIZES_OF_ARCHITECTURE.get(options.architecture, {})).items():
        stored = _size(config, names)
        if stored != getattr(options, option):
            raise BitcipherError(
                f"The model in {folder} has {option} {stored}, but `model.{option}` is {getattr(options, option)}; "
                f"set it to {stored}."
            )
    if options.architecture == "modernbert" and config.layer_types != expected.layer_types:
        kinds = ", ".join(kind.removesuffix("_attention") for kind in config.layer_types)
        raise BitcipherError(
            f"The layers of the model in {folder} have {kinds} attention, which differs from "
            f"`model.global_attn_every_n_layers` {options.global_attn_every_n_layers}; set it to that of the model."
        )
    if config.vocab_size < expected.vocab_size:
        raise BitcipherError(
            f"The model in {folder} has {config.vocab_size:,} tokens, but the tokenizer has {expected.vocab_size:,}; "
            "use the tokenizer that the model was trained with."
        )
    if config.pad_token_id is not None and expected.pad_token_id not in (None, config.pad_token_id):
        raise BitcipherError(
            f"The model in {folder} pads with token {config.pad_token_id}, but the tokenizer pads with token "
            f"{expected.pad_token_id}; use the tokenizer that the model was trained with."
        )
    maximum = getattr(config, "max_position_embeddings", None)
    if maximum is not None and maximum < expected.max_position_embeddings:
        # RoBERTa has additional position rows; they cancel out in the difference.
        length = options.max_position_embeddings - (expected.max_position_embeddings - maximum)
        raise BitcipherError(
            f"The model in {folder} reads sequences of at most {length} tokens, but `model.max_position_embeddings` "
            f"is {options.max_position_embeddings}; set it to {length}."
        )


def _size(config: PreTrainedConfig, names: tuple[str, ...]) -> int:
    stored = next(getattr(config, name) for name in names if hasattr(config, name))
    # Configurations of GPT-2 omit the intermediate size if it is four times the hidden size.
    return 4 * config.hidden_size if stored is None else stored

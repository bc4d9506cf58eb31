"""Classes of transformers for each family of encoders, and models that hold encoders as parts."""

import copy
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

from transformers import (
    BertConfig,
    BertForMaskedLM,
    BertModel,
    DebertaV2Config,
    DebertaV2Model,
    ModernBertConfig,
    ModernBertForMaskedLM,
    ModernBertModel,
    PreTrainedConfig,
    PreTrainedModel,
    RobertaConfig,
    RobertaForMaskedLM,
    RobertaModel,
)

from training.models.deberta import DebertaMaskDecoderConfig, DebertaWithMaskDecoder
from training.models.encoders import attention_kernel


class EncoderFamily(NamedTuple):
    """Classes of a family."""

    config: type[PreTrainedConfig]
    masked: type[PreTrainedModel]
    """Masked language model."""
    base: Callable[[Any], PreTrainedModel]
    """Encoder without a head and without BERT's pooler."""


# By `model_type`.
FAMILIES = {
    "bert": EncoderFamily(BertConfig, BertForMaskedLM, partial(BertModel, add_pooling_layer=False)),
    "roberta": EncoderFamily(RobertaConfig, RobertaForMaskedLM, partial(RobertaModel, add_pooling_layer=False)),
    "modernbert": EncoderFamily(ModernBertConfig, ModernBertForMaskedLM, ModernBertModel),
    "deberta-v2": EncoderFamily(DebertaV2Config, DebertaWithMaskDecoder, DebertaV2Model),
    "deberta-mask-decoder": EncoderFamily(DebertaMaskDecoderConfig, DebertaWithMaskDecoder, DebertaV2Model),
}


def config_of_part(values: dict[str, Any] | None, name: str) -> PreTrainedConfig:
    """Return the configuration of a part of a model, such as its generator, from the plain values in `config.json`.

    Raises:
        ValueError: if it is missing, or of another family than BERT, RoBERTa, ModernBERT and DeBERTa.
    """
    values = copy.deepcopy(values) or {}
    family = values.get("model_type")
    if not isinstance(family, str) or family not in FAMILIES:
        raise ValueError(f"the model_type of the {name} must be one of {', '.join(FAMILIES)}, got {family!r}")
    config = FAMILIES[family].config.from_dict(values)
    config._attn_implementation = attention_kernel(config)
    return config


def make_base(config: PreTrainedConfig) -> PreTrainedModel:
    """Return an encoder without a head and without BERT's pooler, with random weights."""
    return FAMILIES[config.model_type].base(config)

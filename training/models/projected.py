"""RoBERTa with narrow embeddings: a linear layer and a LayerNorm project them to the hidden size.

This is the model of Deshpande et al. (2023), "Honey, I Shrunk the Language", section 3.4. The classes extend those of
transformers and are registered with its Auto classes.
"""

import copy
from typing import Any

from huggingface_hub.dataclasses import strict
from torch import Tensor, nn
from transformers import (
    AutoConfig,
    AutoModelForMaskedLM,
    AutoModelForQuestionAnswering,
    AutoModelForSequenceClassification,
    AutoModelForTokenClassification,
    RobertaConfig,
    RobertaForMaskedLM,
    RobertaForQuestionAnswering,
    RobertaForSequenceClassification,
    RobertaForTokenClassification,
)
from transformers.models.roberta.modeling_roberta import RobertaEmbeddings


@strict
class ProjectedRobertaConfig(RobertaConfig):
    """Configuration of a RoBERTa with narrow embeddings."""

    model_type = "projected-roberta"

    embedding_size: int = 768
    """Width of the token, position and token-type embeddings."""


class ProjectedEmbeddings(RobertaEmbeddings):
    """RoBERTa's embeddings of width E with norm and dropout, then a linear layer and a LayerNorm of width H."""

    def __init__(self, config: ProjectedRobertaConfig) -> None:
        """Create embeddings of width `config.embedding_size` and a projection to `config.hidden_size`."""
        narrow = copy.copy(config)
        narrow.hidden_size = config.embedding_size
        super().__init__(narrow)
        self.projection = nn.Linear(config.embedding_size, config.hidden_size)
        self.projection_norm = nn.LayerNorm(config.hidden_size, eps=config.layer_norm_eps)

    def forward(self, *args: object, **inputs: object) -> Tensor:
        """Return the input [B, S, H] of the first layer. The arguments are those of `RobertaEmbeddings`."""
        return self.projection_norm(self.projection(super().forward(*args, **inputs)))


class _Projected:
    """Mixin that replaces the embeddings of a RoBERTa class with `ProjectedEmbeddings`."""

    config_class = ProjectedRobertaConfig
    # The output layer has width H and the embeddings have width E, so nothing is tied, even if E equals H.
    _tied_weights_keys = None

    roberta: Any
    post_init: Any

    def __init__(self, config: ProjectedRobertaConfig) -> None:
        super().__init__(config)  # pyright: ignore[reportCallIssue] (the next class is a RoBERTa class)
        self.roberta.embeddings = ProjectedEmbeddings(config)
        self.post_init()


class ProjectedRobertaForMaskedLM(_Projected, RobertaForMaskedLM):
    """Masked language model with an untied output layer."""

    def __init__(self, config: ProjectedRobertaConfig) -> None:
        """Create the model without RoBERTa's second bias, which an untied model does not use."""
        super().__init__(config)
        del self.lm_head.bias


class ProjectedRobertaForSequenceClassification(_Projected, RobertaForSequenceClassification):
    """Classification or regression of sentences."""


class ProjectedRobertaForTokenClassification(_Projected, RobertaForTokenClassification):
    """Classification of tokens."""


class ProjectedRobertaForQuestionAnswering(_Projected, RobertaForQuestionAnswering):
    """Extractive question answering."""


# Classes by their names in `config.json`.
PROJECTED = {
    model_class.__name__: model_class
    for model_class in (
        ProjectedRobertaForMaskedLM,
        ProjectedRobertaForSequenceClassification,
        ProjectedRobertaForTokenClassification,
        ProjectedRobertaForQuestionAnswering,
    )
}

# Processes that import this module can open saved models with the Auto classes of transformers.
AutoConfig.register(ProjectedRobertaConfig.model_type, ProjectedRobertaConfig)
AutoModelForMaskedLM.register(ProjectedRobertaConfig, ProjectedRobertaForMaskedLM)
AutoModelForSequenceClassification.register(ProjectedRobertaConfig, ProjectedRobertaForSequenceClassification)
AutoModelForTokenClassification.register(ProjectedRobertaConfig, ProjectedRobertaForTokenClassification)
AutoModelForQuestionAnswering.register(ProjectedRobertaConfig, ProjectedRobertaForQuestionAnswering)

"""RoBERTa whose embeddings have a width of their own: a linear layer and a norm come before the first layer.

It is the model of the downscaling study ("Honey, I Shrunk the Language", section 3.4; SPEC section 7). transformers'
own classes do all the rest, and know these by their configuration.
"""

import copy

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
    """A RoBERTa's configuration, and the width of its embeddings."""

    model_type = "projected-roberta"

    embedding_size: int = 768
    """Numbers in a row of the tables of tokens, positions and types."""


class ProjectedEmbeddings(RobertaEmbeddings):
    """RoBERTa's embeddings of width E with their norm and dropout, then a linear layer and a norm of width H."""

    def __init__(self, config: ProjectedRobertaConfig) -> None:
        """Make tables as wide as `config.embedding_size`, and a projection to `config.hidden_size`."""
        own = copy.copy(config)
        own.hidden_size = config.embedding_size
        super().__init__(own)
        self.projection = nn.Linear(config.embedding_size, config.hidden_size)
        self.projection_norm = nn.LayerNorm(config.hidden_size, eps=config.layer_norm_eps)

    def forward(self, *args: object, **inputs: object) -> Tensor:
        """What the first layer reads, [B, S, H]; arguments are those of RoBERTa's embeddings."""
        return self.projection_norm(self.projection(super().forward(*args, **inputs)))


class _Projected:
    """In front of one of RoBERTa's classes: puts such embeddings in the place of its own."""

    config_class = ProjectedRobertaConfig
    # The output's table is as wide as hidden states, and the input's is not: none is tied, whatever a configuration
    # says and even where both are as wide.
    _tied_weights_keys = None

    def __init__(self, config: ProjectedRobertaConfig) -> None:
        super().__init__(config)
        self.roberta.embeddings = ProjectedEmbeddings(config)
        self.post_init()


class ProjectedRobertaForMaskedLM(_Projected, RobertaForMaskedLM):
    """With the head of a masked language model and a table of its own for the output."""

    def __init__(self, config: ProjectedRobertaConfig) -> None:
        """Make it without RoBERTa's second bias, which nothing reads where tables are not tied."""
        super().__init__(config)
        del self.lm_head.bias


class ProjectedRobertaForSequenceClassification(_Projected, RobertaForSequenceClassification):
    """With a head that classifies or scores sentences."""


class ProjectedRobertaForTokenClassification(_Projected, RobertaForTokenClassification):
    """With a head that classifies tokens."""


class ProjectedRobertaForQuestionAnswering(_Projected, RobertaForQuestionAnswering):
    """With a head that tells where an answer begins and ends."""


# By their names in `config.json`.
PROJECTED = {
    kind.__name__: kind
    for kind in (
        ProjectedRobertaForMaskedLM,
        ProjectedRobertaForSequenceClassification,
        ProjectedRobertaForTokenClassification,
        ProjectedRobertaForQuestionAnswering,
    )
}

# So transformers' own look-up finds the class of a task, and opens what was saved in a process that imported this.
AutoConfig.register(ProjectedRobertaConfig.model_type, ProjectedRobertaConfig)
AutoModelForMaskedLM.register(ProjectedRobertaConfig, ProjectedRobertaForMaskedLM)
AutoModelForSequenceClassification.register(ProjectedRobertaConfig, ProjectedRobertaForSequenceClassification)
AutoModelForTokenClassification.register(ProjectedRobertaConfig, ProjectedRobertaForTokenClassification)
AutoModelForQuestionAnswering.register(ProjectedRobertaConfig, ProjectedRobertaForQuestionAnswering)

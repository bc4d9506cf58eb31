"""An encoder with a projector, which self-supervised objectives train on two views of each sentence.

SimCLR (Chen et al. 2020, section 2.1) and VICReg (Bardes et al. 2022, section 3) compare projections, and use the
embeddings before the projector afterwards.
"""

from collections.abc import Mapping

from huggingface_hub.dataclasses import strict
from torch import Tensor, nn
from transformers import PreTrainedConfig, PreTrainedModel
from transformers import initialization as init

from training.models.families import config_of_part, make_base
from training.models.parts import hidden_states


@strict
class SentenceViewConfig(PreTrainedConfig):
    """Configuration of an encoder, and the width of the projections."""

    model_type = "sentence-views"

    encoder: dict | None = None
    """Configuration of the encoder."""
    projector_size: int = 128
    """Width of the projections."""

    def encoder_config(self) -> PreTrainedConfig:
        """Return the configuration of the encoder.

        Raises:
            ValueError: if it is missing, or of another family than BERT, RoBERTa, ModernBERT and DeBERTa.
        """
        return config_of_part(self.encoder, "encoder")


class SentenceViewModel(PreTrainedModel):
    """An encoder without a language-modeling head, and a projector of sentence embeddings."""

    config_class = SentenceViewConfig
    base_model_prefix = "encoder"
    _supports_sdpa = True
    supports_gradient_checkpointing = True

    def __init__(self, config: SentenceViewConfig) -> None:
        """Create the encoder and the projector with random weights."""
        super().__init__(config)
        encoder = config.encoder_config()
        self.encoder = make_base(encoder)
        width = encoder.hidden_size
        # Normalization over the batch would make a sentence depend on its micro-batch.
        self.projector = nn.Sequential(
            nn.Linear(width, width), nn.LayerNorm(width), nn.ReLU(), nn.Linear(width, config.projector_size)
        )
        self.post_init()

    def _init_weights(self, module: nn.Module) -> None:
        if isinstance(module, nn.Linear):
            init.normal_(module.weight, std=module.in_features**-0.5)
            init.zeros_(module.bias)
        elif isinstance(module, nn.LayerNorm):
            init.ones_(module.weight)
            init.zeros_(module.bias)

    def get_input_embeddings(self) -> nn.Module:
        """Return the token embeddings of the encoder."""
        return self.encoder.get_input_embeddings()

    def project(self, batch: Mapping[str, Tensor]) -> Tensor:
        """Return the projections [B, P] of sentences: see `embed_sentences`."""
        return self.projector(embed_sentences(self, batch))


def embed_sentences(model: PreTrainedModel, batch: Mapping[str, Tensor]) -> Tensor:
    """Return the embeddings [B, H] of sentences: the means of the hidden states of their tokens in the last layer.

    Args:
        model: a model from `build_model` that is no encoder-decoder.
        batch: `input_ids` [B, S] int64, and `attention_mask` [B, S] int64, which is 0 at padding.
    """
    is_token = batch["attention_mask"].unsqueeze(-1).to(model.dtype)
    return (hidden_states(model, batch) * is_token).sum(1) / is_token.sum(1)


def add_projector(model: PreTrainedModel, projector_size: int) -> SentenceViewModel:
    """Return the encoder of a masked language model with a random projector."""
    encoder = model.base_model
    config = SentenceViewConfig(
        encoder=encoder.config.to_dict(),
        projector_size=projector_size,
        pad_token_id=encoder.config.pad_token_id,
        tie_word_embeddings=False,
    )
    with_projector = SentenceViewModel(config)
    with_projector.encoder.load_state_dict(encoder.state_dict())
    return with_projector

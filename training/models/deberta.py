"""DeBERTa (He et al. 2020): disentangled attention of transformers, and the enhanced mask decoder, which it lacks.

Attention scores have terms for the relative distance of two tokens, and the layers do not know absolute positions. For
the prediction of masked tokens, the last layer is replaced with a decoder that adds them (section 3.2).
"""

from collections.abc import Mapping
from typing import Any

from huggingface_hub.dataclasses import strict
from torch import Tensor, nn
from transformers import (
    AutoConfig,
    AutoModel,
    AutoModelForMaskedLM,
    DebertaV2Config,
    DebertaV2ForMaskedLM,
    DebertaV2Model,
)
from transformers.modeling_outputs import MaskedLMOutput

# Number of passes through the last layer in the decoder (He et al. 2020, section 3.2: n = 2).
DECODER_LAYERS = 2


@strict
class DebertaMaskDecoderConfig(DebertaV2Config):
    """Configuration of a DeBERTa with the enhanced mask decoder.

    It has a type of its own, because transformers would open the model as a `DebertaV2ForMaskedLM`, without the
    decoder and so with other logits.
    """

    model_type = "deberta-mask-decoder"

    def encoder_config(self) -> DebertaV2Config:
        """Return the configuration of the encoder alone, which is a model of transformers."""
        return DebertaV2Config.from_dict(self.to_dict() | {"model_type": DebertaV2Config.model_type})


class DebertaMaskDecoderModel(DebertaV2Model):
    """Encoder of a DeBERTa with the enhanced mask decoder."""

    config_class = DebertaMaskDecoderConfig


class DebertaWithMaskDecoder(DebertaV2ForMaskedLM):
    """Masked language model with the enhanced mask decoder.

    The decoder applies the last layer of the encoder n times. Its keys and values are the states H of the layer before.
    Its first query is I = H + P, where P are embeddings of absolute positions, and each next query is the output of the
    pass before. With I = H and n = 1, the decoder is the last layer of the encoder, as in BERT.

    Models for tasks have the encoder alone, whose last layer was trained as the decoder.
    """

    config_class = DebertaMaskDecoderConfig

    def __init__(self, config: DebertaV2Config) -> None:
        """Create the model with random weights."""
        if not isinstance(config, DebertaMaskDecoderConfig):
            config = DebertaMaskDecoderConfig.from_dict(
                config.to_dict() | {"model_type": DebertaMaskDecoderConfig.model_type}
            )
        super().__init__(config)
        self.decoder_positions = nn.Embedding(config.max_position_embeddings, config.hidden_size)
        self.post_init()

    def forward(
        self, input_ids: Tensor, attention_mask: Tensor | None = None, token_type_ids: Tensor | None = None
    ) -> MaskedLMOutput:
        """Return the logits [B, S, V] of all tokens; token types are ignored, as in DeBERTa."""
        batch = {"input_ids": input_ids, "attention_mask": attention_mask}
        states = self.decode_masked({name: each for name, each in batch.items() if each is not None})
        return MaskedLMOutput(logits=self.cls(states))

    def decode_masked(self, batch: Mapping[str, Tensor], layers: int = DECODER_LAYERS) -> Tensor:
        """Return the states of the decoder, from which the head computes logits.

        Args:
            batch: `input_ids` [B, S] int64, optionally `attention_mask` [B, S].
            layers: number n of passes.

        Returns:
            [B, S, H].
        """
        ids = batch["input_ids"]
        states, last, attention = self._encode(ids, batch.get("attention_mask"))
        query = states + self.decoder_positions.weight[: ids.shape[1]]
        for _ in range(layers):
            query, _ = last(states, query_states=query, **attention)
        return query

    def _encode(self, ids: Tensor, mask: Tensor | None) -> tuple[Tensor, nn.Module, dict[str, Any]]:
        """Return the states before the last layer, that layer, and its other inputs."""
        encoder = self.deberta.encoder
        mask = ids.new_ones(ids.shape) if mask is None else mask
        states = self.deberta.embeddings(input_ids=ids, mask=mask)
        attention = {
            "attention_mask": encoder.get_attention_mask(mask),
            "relative_pos": encoder.get_rel_pos(states),
            "rel_embeddings": encoder.get_rel_embedding(),
        }
        *layers, last = encoder.layer
        for layer in layers:
            states, _ = layer(states, **attention)
        return states, last, attention


# Processes that import this module can open saved models with the Auto classes of transformers.
AutoConfig.register(DebertaMaskDecoderConfig.model_type, DebertaMaskDecoderConfig)
AutoModel.register(DebertaMaskDecoderConfig, DebertaMaskDecoderModel)
AutoModelForMaskedLM.register(DebertaMaskDecoderConfig, DebertaWithMaskDecoder)

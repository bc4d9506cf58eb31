"""Hidden states of every layer, with one interface for all architectures."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor

from training.models.deberta import DebertaWithMaskDecoder
from training.models.parts import model_inputs

if TYPE_CHECKING:
    from transformers import PreTrainedModel


@torch.no_grad()
def layer_states(model: "PreTrainedModel", batch: Mapping[str, np.ndarray]) -> list[Tensor]:
    """Return the hidden states of every layer at every position.

    Args:
        model: model in evaluation mode; otherwise dropout is active.
        batch: `input_ids` [B, S] int64, and `attention_mask` or `token_type_ids` if the model uses them. For T5, the
            decoder's states are returned if there are `decoder_input_ids` [B, D], else the encoder's.

    Returns:
        One tensor [B, S, H] for the embeddings (with position embeddings if the model adds them), and one for each
        layer. The last tensor is the input of the head, after the final normalization; of a DeBERTa, it is the output
        of the decoder. H is the hidden size.
    """
    tensors = {name: torch.from_numpy(np.ascontiguousarray(array)).to(model.device) for name, array in batch.items()}
    inputs = model_inputs(model, tensors)
    if isinstance(model, DebertaWithMaskDecoder):
        return [*model.deberta(**inputs, output_hidden_states=True).hidden_states[:-1], model.decode_masked(inputs)]
    if not model.config.is_encoder_decoder:
        return list(model.base_model(**inputs, use_cache=False, output_hidden_states=True).hidden_states)
    if "decoder_input_ids" not in tensors:
        return list(model.encoder(**inputs, output_hidden_states=True).hidden_states)
    decoded = model.decoder(
        input_ids=tensors["decoder_input_ids"],
        encoder_hidden_states=model.encoder(**inputs).last_hidden_state,
        encoder_attention_mask=inputs.get("attention_mask"),
        use_cache=False,
        output_hidden_states=True,
    )
    return list(decoded.hidden_states)


def states_at(states: list[Tensor], offsets: np.ndarray) -> np.ndarray:
    """Return the states [layers, N, H] float32 at offsets [N] int64 in the flattened batch."""
    indices = torch.from_numpy(offsets).to(states[0].device)
    return torch.stack([state.flatten(0, 1).index_select(0, indices) for state in states]).float().cpu().numpy()

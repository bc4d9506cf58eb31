"""Hidden states that the head of a classifier of sentences reads."""

from collections.abc import Mapping

import torch
from torch import Tensor
from transformers import PreTrainedModel

from training.models.parts import MODEL_INPUTS

_DECODERS = ("gpt2", "opt")


def head_states(model: PreTrainedModel, batch: Mapping[str, Tensor]) -> tuple[Tensor, Tensor]:
    """Return the states of each layer at the token that the head reads, and the logits of the classes.

    The token is the first one in an encoder, and the last one in a decoder and in T5.

    Args:
        model: classifier of sentences.
        batch: inputs of B rows, with `attention_mask`; other arrays are ignored.

    Returns:
        [layers, B, H] float32, of the embeddings (0) and of each layer, and [B, classes] float32. T5's layers are those
        of the decoder.
    """
    inputs = {name: batch[name] for name in MODEL_INPUTS if name in batch}
    outputs = model(**inputs, output_hidden_states=True)
    is_t5 = model.config.model_type == "t5"
    layers = outputs.decoder_hidden_states if is_t5 else outputs.hidden_states
    rows = torch.arange(len(outputs.logits), device=model.device)
    reads_last = is_t5 or model.config.model_type in _DECODERS
    positions = inputs["attention_mask"].sum(1) - 1 if reads_last else torch.zeros_like(rows)
    return torch.stack([states[rows, positions] for states in layers]).float(), outputs.logits.float()

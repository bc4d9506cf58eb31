"""Hidden states that the head of a classifier of sentences reads."""

from collections.abc import Mapping

import torch
from torch import Tensor
from transformers import PreTrainedModel

from training.models.encoders import traits_of
from training.models.next_sentence import mean_states
from training.models.parts import MODEL_INPUTS


def head_states(model: PreTrainedModel, batch: Mapping[str, Tensor]) -> tuple[Tensor, Tensor]:
    """Return the states of each layer that the head would read, and the logits of the classes.

    They are those of the first token in an encoder, their means over all tokens with `classifier_pooling` mean, and
    those of the last token in a decoder and in T5.

    Args:
        model: classifier of sentences.
        batch: inputs of B rows, with `attention_mask`; other arrays are ignored.

    Returns:
        [layers, B, H] float32, of the embeddings (0) and of each layer, and [B, classes] float32. T5's layers are those
        of the decoder.
    """
    inputs = {name: batch[name] for name in MODEL_INPUTS if name in batch}
    outputs = model(**inputs, output_hidden_states=True)
    kind = traits_of(model.config).kind
    layers = outputs.decoder_hidden_states if kind == "encoder-decoder" else outputs.hidden_states
    logits = outputs.logits.float()
    mask = inputs["attention_mask"]
    if getattr(model.config, "classifier_pooling", "cls") == "mean":
        return torch.stack([mean_states(states.float(), mask) for states in layers]), logits
    rows = torch.arange(len(logits), device=model.device)
    positions = torch.zeros_like(rows) if kind == "encoder" else mask.sum(1) - 1
    return torch.stack([states[rows, positions] for states in layers]).float(), logits

"""Attention within documents, for sequences that hold parts of several documents.

Each document is processed as if it were alone in the sequence: its tokens attend to each other only, and positions
count from its start.
"""

from typing import Any

import torch
from torch import Tensor
from transformers import PreTrainedConfig

from training.models.encoders import traits_of


def document_inputs(config: PreTrainedConfig, document_ids: Tensor) -> dict[str, Any]:
    """Return the inputs of a model that keep attention within documents.

    Args:
        config: configuration of a BERT, RoBERTa, ModernBERT, GPT-2 or OPT.
        document_ids: [B, S] int64, a number for each document of a row, in ascending order.

    Returns:
        `attention_mask` [B, 1, S, S] bool, true where a token attends to another, or two of them for ModernBERT, whose
        layers differ; and `position_ids` [B, S] int64.
    """
    columns = torch.arange(document_ids.shape[1], device=document_ids.device)
    mask = (document_ids[:, :, None] == document_ids[:, None, :])[:, None]
    distances = columns[:, None] - columns
    traits = traits_of(config)
    if traits.kind == "decoder":
        mask = mask & (distances >= 0)
    starts = torch.ones_like(document_ids, dtype=torch.bool)
    starts[:, 1:] = document_ids[:, 1:] != document_ids[:, :-1]
    positions = columns - torch.where(starts, columns, 0).cummax(dim=1).values
    if traits.positions_after_padding:
        positions = positions + config.pad_token_id + 1
    if hasattr(config, "sliding_window"):
        near = mask & (distances.abs() <= config.sliding_window)
        return {"attention_mask": {"full_attention": mask, "sliding_attention": near}, "position_ids": positions}
    return {"attention_mask": mask, "position_ids": positions}

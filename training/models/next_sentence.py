"""ModernBERT with a head that predicts whether two segments follow each other, which transformers has for BERT only."""

import torch
from torch import Tensor, nn
from transformers import ModernBertConfig, ModernBertForMaskedLM


class ModernBertForPreTraining(ModernBertForMaskedLM):
    """Masked language model with a next-sentence head.

    ModernBERT has no token types, so its first token cannot see from the input which segment a token is in. Therefore,
    this head compares the mean hidden states u and v of the segments: a linear layer of u, v, |u - v| and u · v by
    component (Conneau et al. 2017, InferSent, section 3.1).
    """

    def __init__(self, config: ModernBertConfig) -> None:
        """Create the model with random weights."""
        super().__init__(config)
        self.seq_relationship = nn.Linear(4 * config.hidden_size, 2)
        self.post_init()

    def sentence_logits(self, hidden: Tensor, attention_mask: Tensor, token_type_ids: Tensor) -> Tensor:
        """Return the logits [B, 2] that the second segment follows the first, and that it does not.

        Args:
            hidden: [B, S, H], hidden states of the last layer.
            attention_mask: [B, S] int64, 0 at padding.
            token_type_ids: [B, S] int64, 1 in the second segment.
        """
        first, second = (
            mean_states(hidden, attention_mask * of_segment) for of_segment in (1 - token_type_ids, token_type_ids)
        )
        return self.seq_relationship(torch.cat([first, second, (first - second).abs(), first * second], dim=1))


def mean_states(hidden: Tensor, is_token: Tensor) -> Tensor:
    """Return the means [B, H] of hidden states [B, S, H] over the positions [B, S] that are 1, or 0 if none are."""
    weights = is_token.unsqueeze(-1).to(hidden.dtype)
    return (hidden * weights).sum(1) / weights.sum(1).clamp(min=1)

"""Accuracy on masked examples with words outside the vocabulary, and fine-tuning of the network that embeds them."""

import copy
import math
from collections.abc import Callable, Iterable
from dataclasses import replace

import numpy as np
import torch
from torch import Tensor
from transformers import PreTrainedModel

from bitcipher.errors import BitcipherError
from training.models.losses import score_tokens, summed_loss
from training.models.parts import hidden_states, input_embeddings
from training.studies.byte_embeddings.alignment import ByteEmbeddings
from training.studies.byte_embeddings.table_replacement import replaced_input_embeddings
from training.studies.byte_embeddings.whole_words import WordBatch


@torch.no_grad()
def score_words(
    model: PreTrainedModel, table: Tensor, embeddings: ByteEmbeddings | None, batch: WordBatch
) -> np.ndarray:
    """Return whether the likeliest token is the masked one, [M] bool.

    Args:
        model: a masked language model, in evaluation mode.
        table: [V, H] input embeddings of the vocabulary.
        embeddings: network that embeds the other strings of the batch; None if there are none.
        batch: masked examples.
    """
    if batch.strings and embeddings is not None:
        table = torch.cat([table, embeddings.embed(batch.strings).to(table)])
    hidden = _masked_states(model, table, batch)
    return score_tokens(model, hidden, torch.from_numpy(batch.labels).to(hidden.device))[1].cpu().numpy()


def tune_on_words(
    model: PreTrainedModel,
    embeddings: ByteEmbeddings,
    batches: Iterable[WordBatch],
    learning_rate: float,
    advance: Callable[[float], None] = lambda loss: None,
) -> ByteEmbeddings:
    """Fine-tune a network on masked examples, with one step of Adam per batch.

    Only the network changes: the model, and its embeddings of the vocabulary, stay as they are.

    Args:
        model: a masked language model, in evaluation mode.
        embeddings: network that embeds the strings outside the vocabulary; a copy is trained.
        batches: masked examples; a batch without such strings is left out.
        learning_rate: learning rate of Adam.
        advance: called with the mean loss of each batch.

    Raises:
        BitcipherError: if the loss is no longer finite.
    """
    tuned = replace(embeddings, network=copy.deepcopy(embeddings.network).train())
    weights = list(tuned.network.parameters())
    optimizer = torch.optim.Adam(weights, lr=learning_rate, fused=True)
    table = input_embeddings(model).weight.detach()
    for batch in batches:
        if not batch.strings:
            continue
        hidden = _masked_states(model, torch.cat([table, tuned.embed_with_gradients(batch.strings).to(table)]), batch)
        labels = torch.from_numpy(batch.labels).to(hidden.device)
        loss = summed_loss(model, hidden, labels) / len(labels)
        if not math.isfinite(float(loss.detach())):
            raise BitcipherError("The loss of the fine-tuning is no longer finite; lower the learning rate.")
        for weight, gradient in zip(weights, torch.autograd.grad(loss, weights), strict=True):
            weight.grad = gradient  # and not those of the model
        optimizer.step()
        advance(float(loss.detach()))
    tuned.network.eval()
    return tuned


def _masked_states(model: PreTrainedModel, table: Tensor, batch: WordBatch) -> Tensor:
    """Return the last hidden states [M, H] at the masked words."""
    inputs = {"input_ids": batch.input_ids, "attention_mask": batch.attention_mask}
    with replaced_input_embeddings(model, table):
        hidden = hidden_states(model, {name: torch.from_numpy(ids).to(table.device) for name, ids in inputs.items()})
    return hidden.flatten(0, 1).index_select(0, torch.from_numpy(batch.positions).to(table.device))

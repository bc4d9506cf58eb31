"""Putting a table into a model."""

from dataclasses import dataclass

import numpy as np
import torch
from transformers import PreTrainedModel

from bitcipher.errors import BitcipherError
from training.embeddings.options import EmbeddingInitOptions
from training.embeddings.token_table import TokenTable, fit_width
from training.models import input_embeddings, output_bias


@dataclass(frozen=True)
class EmbeddingInitReport:
    """What became of a model's table."""

    known: int
    """Tokens that start from their vector."""
    cold: int
    """Tokens that keep the model's random row: special ones, and those never counted."""
    dimensions: int
    """Of the vectors, before they were fitted to the width of the model's table."""
    scale: float
    """Spread of the numbers of the rows that were put in."""


@torch.no_grad()
def install_table(model: PreTrainedModel, table: TokenTable, options: EmbeddingInitOptions) -> EmbeddingInitReport:
    """Replace the known tokens' rows of a model's embedding table; the others keep theirs.

    The rows get the spread (root of the mean square) of the model's own random ones times `scale`, so that the layers
    above meet numbers of the size that they were made for. Heads that are tied to the table stay tied.

    Args:
        model: with its random weights.
        table: of the model's tokenizer.
        options: scale, centering, bias.

    Raises:
        BitcipherError: if the table has more tokens than the model.
    """
    weight = input_embeddings(model).weight
    if len(table.rows) > len(weight):
        raise BitcipherError(f"The model has {len(weight):,} tokens, and the table {len(table.rows):,}.")
    known = np.flatnonzero(table.known)
    rows = fit_width(table.rows[known], weight.shape[1])
    if options.centered:
        rows = rows - rows.mean(axis=0)
    own = float(weight.float().square().mean().sqrt())
    spread = np.sqrt(np.mean(np.square(rows, dtype=np.float64)))
    rows = rows * (options.table_scale * own / spread)
    weight[torch.from_numpy(known)] = torch.from_numpy(rows).to(weight)
    if options.output_bias:
        _start_bias(model, table)
    return EmbeddingInitReport(len(known), len(weight) - len(known), table.rows.shape[1], options.table_scale * own)


@torch.no_grad()
def scale_table(model: PreTrainedModel, scale: float) -> None:
    """Multiply a model's own embedding table."""
    input_embeddings(model).weight.mul_(scale)


def _start_bias(model: PreTrainedModel, table: TokenTable) -> None:
    """Let the last bias tell how frequent tokens are, which is what a model learns first."""
    bias = output_bias(model)
    if bias is None or table.counts is None:
        return
    counts = torch.from_numpy(table.counts).to(bias)
    shares = (counts + 1) / (counts + 1).sum()
    bias[: len(shares)] = shares.log() - shares.log().mean()

"""Which tokens are told apart: the most frequent ones among those to predict."""

from collections.abc import Iterable

import numpy as np

from bitcipher.errors import BitcipherError
from training.data import SpecialTokens
from training.loop import Batch


def frequent_tokens(batches: Iterable[Batch], classes: int, specials: SpecialTokens) -> np.ndarray:
    """The most frequent targets of an objective's batches, without special tokens.

    Where a text ends, or which gap comes next, is told by the form of examples and not by language.

    Returns:
        [K] int64, the most frequent first, of equal ones the lower id; K may be less than `classes`.

    Raises:
        BitcipherError: if there are not even two.
    """
    tokens, counts = np.unique(np.concatenate([batch["labels"].ravel() for batch in batches]), return_counts=True)
    special = {specials.pad, specials.begin, specials.end, specials.unknown, specials.mask, *specials.sentinels}
    is_text = ~np.isin(tokens, [token for token in special if token is not None])
    tokens, counts = tokens[is_text], counts[is_text]
    if len(tokens) < 2:
        raise BitcipherError("There is nothing to tell apart: the sequences ask for fewer than two tokens. Take more.")
    return tokens[np.argsort(-counts, kind="stable")[:classes]].astype(np.int64)


def samples_of(batch: Batch, tokens: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The predictions of a batch whose targets are among some tokens.

    Args:
        batch: of an objective: `labels`, of all positions or of those in `positions`.
        tokens: [K], of `frequent_tokens`.

    Returns:
        The places of the predictions in the flattened batch, [N] int64, and their classes, [N] int64 below K.
    """
    labels = batch["labels"].ravel()
    places = batch["positions"] if "positions" in batch else np.arange(len(labels))
    order = np.argsort(tokens)
    found = order[np.searchsorted(tokens, labels, sorter=order).clip(max=len(tokens) - 1)]
    known = tokens[found] == labels
    return places[known], found[known]

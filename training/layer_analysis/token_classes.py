"""Classes of a language model: the most frequent target tokens."""

from collections.abc import Iterable

import numpy as np

from bitcipher.errors import BitcipherError
from training.data import SpecialTokens
from training.loop import Batch


def frequent_tokens(batches: Iterable[Batch], classes: int, specials: SpecialTokens) -> np.ndarray:
    """Return the most frequent targets of an objective's batches, without special tokens.

    Special tokens are predicted from the format of the examples, not from the language.

    Returns:
        [K] int64 by descending frequency, ties by ascending id; K may be less than `classes`.

    Raises:
        BitcipherError: if there are fewer than two tokens.
    """
    tokens, counts = np.unique(np.concatenate([batch["labels"].ravel() for batch in batches]), return_counts=True)
    special = {specials.pad, specials.begin, specials.end, specials.unknown, specials.mask, *specials.sentinels}
    is_text = ~np.isin(tokens, [token for token in special if token is not None])
    tokens, counts = tokens[is_text], counts[is_text]
    if len(tokens) < 2:
        raise BitcipherError("The sequences contain fewer than two different target tokens; use more sequences.")
    return tokens[np.argsort(-counts, kind="stable")[:classes]].astype(np.int64)


def samples_of(batch: Batch, tokens: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the positions and classes of a batch's targets that are among the given tokens.

    Args:
        batch: batch of an objective. It has the `labels` of all positions, or of the ones in `positions`.
        tokens: class tokens, [K].

    Returns:
        Offsets in the flattened batch, [N] int64, and class ids below K, [N] int64.
    """
    labels = batch["labels"].ravel()
    positions = batch["positions"] if "positions" in batch else np.arange(len(labels))
    order = np.argsort(tokens)
    found = order[np.searchsorted(tokens, labels, sorter=order).clip(max=len(tokens) - 1)]
    is_class = tokens[found] == labels
    return positions[is_class], found[is_class]

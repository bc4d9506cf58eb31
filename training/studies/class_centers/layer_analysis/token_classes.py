"""Classes of a language model: the most frequent target tokens."""

from collections.abc import Iterable

import numpy as np

from bitcipher.errors import BitcipherError
from training.data.examples import Batch
from training.data.special_tokens import SpecialTokens


def frequent_tokens(batches: Iterable[Batch], n_classes: int, specials: SpecialTokens) -> np.ndarray:
    """Return the most frequent target tokens of an objective's batches, without special tokens.

    Special tokens are left out, because a model predicts them from the format of the examples, not from the language.

    Args:
        batches: batches of an objective, with `labels`.
        n_classes: maximum number of tokens.
        specials: special tokens of the tokenizer.

    Returns:
        [K] int64 by descending frequency, ties by ascending id. K is `n_classes`, or less if there are fewer different
        tokens.

    Raises:
        BitcipherError: if there are fewer than two different tokens.
    """
    tokens, counts = np.unique(np.concatenate([batch["labels"].ravel() for batch in batches]), return_counts=True)
    special = {specials.pad, specials.begin, specials.end, specials.unknown, specials.mask, *specials.sentinels}
    is_text = ~np.isin(tokens, [token for token in special if token is not None])
    tokens, counts = tokens[is_text], counts[is_text]
    if len(tokens) < 2:
        raise BitcipherError("The sequences contain fewer than two different target tokens; use more sequences.")
    return tokens[np.argsort(-counts, kind="stable")[:n_classes]].astype(np.int64)


def samples_of(batch: Batch, tokens: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the targets of a batch that are class tokens, as offsets and class ids.

    Args:
        batch: batch of an objective. Its `labels` are the target tokens at `positions`, or at all positions if the
            batch has no `positions`.
        tokens: [K] int64, class tokens.

    Returns:
        Offsets in the flattened batch, [N] int64, and class ids from 0 to K - 1, [N] int64.
    """
    labels = batch["labels"].ravel()
    positions = batch["positions"] if "positions" in batch else np.arange(len(labels))
    order = np.argsort(tokens)
    class_ids = order[np.searchsorted(tokens, labels, sorter=order).clip(max=len(tokens) - 1)]
    is_class = tokens[class_ids] == labels
    return positions[is_class], class_ids[is_class]

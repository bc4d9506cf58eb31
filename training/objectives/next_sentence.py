"""Masked language modeling with next-sentence prediction (Devlin et al. 2019, section 3.1)."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from bitcipher.errors import BitcipherError
from training.data.counter_rng import derive_key, uniform
from training.models.losses import summed_loss
from training.objectives.base import BatchContext
from training.objectives.masked import MaskedLM

if TYPE_CHECKING:
    from torch import Tensor
    from transformers import PreTrainedModel

    from training.data.token_streams import Sequences


class NextSentence(MaskedLM):
    """Predict masked tokens of two segments, and whether the second segment follows the first.

    An example is the begin token, the first half of a passage, the end token, a second half, the end token, and
    padding. In half of the rows, the second half is that of a passage of another document, drawn uniformly. A passage
    is part of one document: the tokens from the beginning of the row's sequence on, or the last ones of the document if
    too few follow. Documents that are shorter than an example are padded.

    The targets are the masked tokens. The sentence loss of a row is weighted by the number of masked tokens in the row.
    After division by the number of targets, the mean sentence loss therefore has the same weight as the mean masked
    loss, as in BERT. The sum over a batch does not depend on how its rows are split between workers.
    """

    architectures: ClassVar[tuple[str, ...]] = ("bert", "modernbert")
    metrics: ClassVar[tuple[str, ...]] = (
        *("validation_loss", "perplexity", "masked_loss", "masked_accuracy", "sentence_loss", "sentence_accuracy"),
    )
    needs_next_sentence_head: ClassVar[bool] = True
    can_mask_documents: ClassVar[bool] = False

    def text_length(self, length: int) -> int:
        """Return `length` without the begin token and the two end tokens."""
        if length < 5:
            raise BitcipherError(f"Next-sentence examples need at least 5 positions, got {length}.")
        return length - 3

    def make_batch(self, context: BatchContext) -> dict[str, np.ndarray]:
        """Return pairs of segments with masked tokens.

        Returns:
            The arrays of `MaskedLM.make_batch`; `attention_mask` [B, length] int64, 0 at padding; `token_type_ids`
            [B, length] int64, 1 at the second half and the end token after it; `is_random` [B] int64, 1 if the second
            half comes from another document; `sentence_weights` [B] float32, the number of masked tokens of each row.
        """
        is_random, second_ids = self._draw_second_halves(context)
        first, n_first = _read_passages(context.sequences, context.sequence_ids)
        second, n_second = _read_passages(context.sequences, second_ids)
        cut = n_second // 2
        # Column of the end token after each segment.
        first_end = (1 + n_first // 2)[:, None]
        second_end = first_end + 1 + (n_second - cut)[:, None]
        length = context.sequences.length + 3
        columns = np.arange(length)
        is_first = (columns > 0) & (columns < first_end)
        is_second = (columns > first_end) & (columns < second_end)
        special = context.special_tokens
        examples = np.full(is_first.shape, special.pad, np.int64)
        examples[:, 0] = special.begin
        examples[(columns == first_end) | (columns == second_end)] = special.end
        examples[is_first] = _take(first, columns - 1)[is_first]
        examples[is_second] = _take(second, columns - first_end - 1 + cut[:, None])[is_second]
        batch = self.mask_tokens(examples, context)
        masked_per_row = np.bincount(batch["positions"] // length, minlength=len(examples))
        return batch | {
            "attention_mask": (columns <= second_end).astype(np.int64),
            "token_type_ids": ((columns > first_end) & (columns <= second_end)).astype(np.int64),
            "is_random": is_random.astype(np.int64),
            "sentence_weights": masked_per_row.astype(np.float32),
        }

    def _draw_second_halves(self, context: BatchContext) -> tuple[np.ndarray, np.ndarray]:
        """Return [B] bool, whether the second half is random, and [B] int64, the sequence that it comes from."""
        sequences = context.sequences
        begins, ends = _find_documents(sequences, context.sequence_ids)
        # Sequences that begin in the same document.
        same, after = -(-begins // sequences.length), np.minimum(-(-ends // sequences.length), len(sequences))
        n_others = len(sequences) - (after - same)
        if (n_others < 1).any():
            raise BitcipherError(
                "Next-sentence prediction needs sequences of at least two documents in each split; provide more text, "
                "or raise `text.validation_fraction`."
            )
        draws = uniform(derive_key(context.rng_key, "second half"), self.rng_rows(context), 2)
        is_random = draws[:, 0] < 0.5
        others = (after + (draws[:, 1] * n_others).astype(np.int64)) % len(sequences)
        return is_random, np.where(is_random, others, context.sequence_ids)

    def loss(self, model: "PreTrainedModel", batch: Mapping[str, "Tensor"]) -> "Tensor":
        """Return the sum of the masked losses and the weighted sentence losses."""
        from training.models import parts

        hidden = parts.hidden_states(model, batch)
        masked = hidden.flatten(0, 1).index_select(0, batch["positions"])
        sentence_losses, _ = _score_sentences(model, hidden, batch)
        return summed_loss(model, masked, batch["labels"]) + (sentence_losses * batch["sentence_weights"]).sum()

    def row_sums(self, model: "PreTrainedModel", batch: Mapping[str, "Tensor"]) -> dict[str, "Tensor"]:
        """Return losses and correct guesses of the selected tokens, and of the sentences, of each row."""
        import torch  # not at the top: this module is imported to check options

        from training.models import parts

        hidden = parts.hidden_states(model, batch)
        masked, correct = self.score_masked(model, hidden, batch)
        sentence_losses, is_correct = (scores.double() for scores in _score_sentences(model, hidden, batch))
        ones, weights = torch.ones_like(sentence_losses), batch["sentence_weights"].double()
        return {
            "validation_loss": masked + torch.stack([sentence_losses * weights, 0 * weights], dim=1),
            "perplexity": masked,
            "masked_loss": masked,
            "masked_accuracy": correct,
            "sentence_loss": torch.stack([sentence_losses, ones], dim=1),
            "sentence_accuracy": torch.stack([is_correct, ones], dim=1),
        }


def _score_sentences(
    model: "PreTrainedModel", hidden: "Tensor", batch: Mapping[str, "Tensor"]
) -> tuple["Tensor", "Tensor"]:
    """Return the cross-entropy of each row's sentence prediction, and whether it is correct, [B] each."""
    from torch.nn import functional

    from training.models import parts

    logits = parts.sentence_logits(model, hidden, batch).float()
    losses = functional.cross_entropy(logits, batch["is_random"], reduction="none")
    return losses, logits.argmax(dim=1) == batch["is_random"]


def _find_documents(sequences: "Sequences", ids: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return begin and end [B], in tokens of the stream, of the document in which each sequence begins."""
    ends = sequences.stream.ends
    numbers = np.searchsorted(ends, ids * sequences.length, side="right")
    return np.where(numbers > 0, ends[numbers - 1], 0), ends[numbers]


def _read_passages(sequences: "Sequences", ids: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the passage of each sequence: [B, S] tokens, of which the first [B] belong to the document."""
    length = sequences.length
    begins, ends = _find_documents(sequences, ids)
    last = ends - 1  # the end token is no part of a passage
    starts = np.maximum(begins, np.minimum(ids * length, last - length))
    return sequences.stream.read(starts, length), np.minimum(last - starts, length)


def _take(rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """Return the tokens of rows [B, S] at columns [C] or [B, C]; columns outside are clipped."""
    columns = np.broadcast_to(np.clip(columns, 0, rows.shape[1] - 1), (len(rows), columns.shape[-1]))
    return np.take_along_axis(rows, columns, axis=1)

"""Log-likelihood of sentences under decoders, and pseudo-log-likelihood under encoders (Salazar et al. 2020)."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import torch
from tokenizers import Tokenizer
from torch import Tensor
from transformers import PreTrainedModel

from bitcipher.errors import BitcipherError
from training.data import SpecialTokens, plain_text_tokenizer, special_tokens, vocab_size
from training.finetuning.heads import max_sequence_length
from training.models.encoders import architecture_of
from training.models.parts import hidden_states, logits

CAUSAL = ("gpt2", "opt")
MASKED = ("bert", "roberta", "modernbert", "deberta")
# Maximum number of tokens, and of logits (32 MiB in float64), of a batch.
_TOKENS_PER_BATCH, _LOGITS_PER_BATCH = 4096, 2**22


class _Row(NamedTuple):
    """Input of a model, and the tokens whose probabilities count."""

    sentence: int
    """Index of the sentence."""
    inputs: list[int]
    positions: list[int]
    """Positions whose outputs predict the targets."""
    targets: list[int]


@torch.no_grad()
def score_sentences(model: PreTrainedModel, tokenizer: Tokenizer, sentences: Sequence[str]) -> np.ndarray:
    """Return the log-likelihood of each sentence in nats, (N,) float64: the sum over its tokens.

    A decoder predicts each token from those before it, after the end token of a previous document. An encoder predicts
    each token from all others, while it alone is masked, between the begin and the end token.

    Args:
        model: model with a language-modeling head; it is set to evaluation mode.
        tokenizer: tokenizer of the model.
        sentences: texts; names of special tokens in them are encoded as text.

    Raises:
        BitcipherError: if the model is neither a decoder nor an encoder, its tokenizer has too many tokens or no mask
            token, or a sentence has no token or too many.
    """
    architecture = architecture_of(model.config)
    if architecture not in CAUSAL + MASKED:
        raise BitcipherError(
            f"A {type(model).__name__} gives no likelihood of a sentence; use a model of {', '.join(CAUSAL + MASKED)}."
        )
    if vocab_size(tokenizer) > model.config.vocab_size:
        raise BitcipherError(
            f"The model has {model.config.vocab_size:,} tokens, but the tokenizer has {vocab_size(tokenizer):,}; use "
            "the tokenizer that the model was trained with."
        )
    special = special_tokens(tokenizer)
    if architecture in MASKED and special.mask is None:
        raise BitcipherError("The tokenizer has no mask token; use the tokenizer that the model was trained with.")
    encoder, limit = plain_text_tokenizer(tokenizer), max_sequence_length(model.config)
    rows: list[_Row] = []
    for index, sentence in enumerate(sentences):
        ids = encoder.encode(sentence, add_special_tokens=False).ids
        room = None if limit is None else limit - (1 if architecture in CAUSAL else 2)
        if not ids:
            raise BitcipherError(f"Sentence {index + 1} has no tokens: {sentence!r}; leave it out.")
        if room is not None and len(ids) > room:
            raise BitcipherError(
                f"Sentence {index + 1} has {len(ids):,} tokens, but the model reads at most {room:,}; leave it out."
            )
        rows += _causal_rows(index, ids, special) if architecture in CAUSAL else _masked_rows(index, ids, special)
    model.eval()
    scores = np.zeros(len(sentences))
    for batch in _batches(rows, model.config.vocab_size):
        np.add.at(scores, [row.sentence for row in batch], _log_likelihoods(model, batch))
    return scores


def _causal_rows(index: int, ids: list[int], special: SpecialTokens) -> list[_Row]:
    return [_Row(index, [special.end, *ids], list(range(len(ids))), ids)]


def _masked_rows(index: int, ids: list[int], special: SpecialTokens) -> list[_Row]:
    rows = []
    for position, target in enumerate(ids, 1):
        inputs = [special.begin, *ids, special.end]
        inputs[position] = special.mask or 0
        rows.append(_Row(index, inputs, [position], [target]))
    return rows


def _batches(rows: Sequence[_Row], n_tokens: int) -> Iterator[list[_Row]]:
    """Yield batches of rows of equal length, so that no row needs padding."""
    by_length = defaultdict(list)
    for row in rows:
        by_length[len(row.inputs)].append(row)
    for length, same in sorted(by_length.items()):
        logits_per_row = len(same[0].targets) * n_tokens
        size = max(1, min(_TOKENS_PER_BATCH // length, _LOGITS_PER_BATCH // logits_per_row))
        for start in range(0, len(same), size):
            yield same[start : start + size]


def _log_likelihoods(model: PreTrainedModel, batch: list[_Row]) -> np.ndarray:
    """Return the sum of the log-probabilities of each row's targets, (B,) float64."""

    def tensor(values: list[list[int]]) -> Tensor:
        return torch.tensor(values, device=model.device)

    inputs = tensor([row.inputs for row in batch])
    hidden = hidden_states(model, {"input_ids": inputs, "attention_mask": torch.ones_like(inputs)})
    positions = tensor([row.positions for row in batch])[..., None].expand(-1, -1, hidden.shape[-1])
    log_probabilities = logits(model, hidden.gather(1, positions)).double().log_softmax(-1)
    targets = tensor([row.targets for row in batch])[..., None]
    return log_probabilities.gather(2, targets).sum(dim=(1, 2)).cpu().numpy()

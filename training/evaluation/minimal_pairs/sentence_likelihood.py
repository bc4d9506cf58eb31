"""Log-likelihood of sentences under decoders, and pseudo-log-likelihood under encoders (Salazar et al. 2020)."""

from collections.abc import Sequence

import numpy as np
from tokenizers import Tokenizer
from transformers import PreTrainedModel

from bitcipher.errors import BitcipherError
from pipelines.tokenizers.tokenizer_json import vocab_size
from training.data.special_tokens import SpecialTokens, special_tokens
from training.data.tokenizer_files import plain_text_tokenizer
from training.evaluation.decoding.token_likelihood import ScoredRow, log_likelihoods
from training.models.encoders import architecture_of, max_sequence_length
from training.models.options import DECODERS, ENCODERS


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
    if architecture not in DECODERS + ENCODERS:
        names = ", ".join(DECODERS + ENCODERS)
        raise BitcipherError(f"A {type(model).__name__} gives no likelihood of a sentence; use a model of {names}.")
    if vocab_size(tokenizer) > model.config.vocab_size:
        raise BitcipherError(
            f"The model has {model.config.vocab_size:,} tokens, but the tokenizer has {vocab_size(tokenizer):,}; use "
            "the tokenizer that the model was trained with."
        )
    special = special_tokens(tokenizer)
    if architecture in ENCODERS and special.mask is None:
        raise BitcipherError("The tokenizer has no mask token; use the tokenizer that the model was trained with.")
    encoder, limit = plain_text_tokenizer(tokenizer), max_sequence_length(model.config)
    rows: list[ScoredRow] = []
    for index, sentence in enumerate(sentences):
        ids = encoder.encode(sentence, add_special_tokens=False).ids
        room = None if limit is None else limit - (1 if architecture in DECODERS else 2)
        if not ids:
            raise BitcipherError(f"Sentence {index + 1} has no tokens: {sentence!r}; leave it out.")
        if room is not None and len(ids) > room:
            raise BitcipherError(
                f"Sentence {index + 1} has {len(ids):,} tokens, but the model reads at most {room:,}; leave it out."
            )
        rows += _causal_rows(index, ids, special) if architecture in DECODERS else _masked_rows(index, ids, special)
    return log_likelihoods(model.eval(), rows, len(sentences))


def _causal_rows(index: int, ids: list[int], special: SpecialTokens) -> list[ScoredRow]:
    return [ScoredRow(index, [special.end, *ids], list(range(len(ids))), ids)]


def _masked_rows(index: int, ids: list[int], special: SpecialTokens) -> list[ScoredRow]:
    rows = []
    for position, target in enumerate(ids, 1):
        inputs = [special.begin, *ids, special.end]
        inputs[position] = special.mask or 0
        rows.append(ScoredRow(index, inputs, [position], [target]))
    return rows

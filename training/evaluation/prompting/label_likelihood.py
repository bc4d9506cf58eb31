"""Log-likelihoods of the words for each label after a prompt."""

from collections.abc import Sequence

import numpy as np
from tokenizers import Tokenizer
from transformers import PreTrainedModel

from bitcipher.errors import BitcipherError
from training.data.special_tokens import SpecialTokens, special_tokens
from training.data.tokenizer_files import plain_text_tokenizer
from training.evaluation.decoding.generation import ARCHITECTURES, prepare_model
from training.evaluation.decoding.token_likelihood import ScoredRow, log_likelihoods
from training.models.encoders import max_sequence_length


def score_labels(
    model: PreTrainedModel, tokenizer: Tokenizer, prompts: Sequence[str], labels: Sequence[str]
) -> tuple[np.ndarray, int]:
    """Return the mean log-likelihood per token of the words for each label, as in Brown et al. 2020, section 2.4.

    A decoder reads a prompt after the end token of a previous document, and the words follow it. An encoder-decoder
    reads the prompt and the end token, and its decoder predicts the words and the end token.

    Args:
        model: decoder or encoder-decoder with a language-modeling head; it is set to evaluation mode.
        tokenizer: tokenizer of the model.
        prompts: texts that the label follows. A space at the end is part of the words for the label, because tokenizers
            join it to the next word. If a decoder cannot read a whole prompt, the beginning of the prompt is cut.
        labels: words for each label.

    Returns:
        [prompts, labels] float64 in nats, and the number of prompts that were cut.

    Raises:
        BitcipherError: if the model cannot generate text or does not match the tokenizer, the words for a label have no
            tokens, or the words are too long for the model.
    """
    prepare_model(model, tokenizer, ARCHITECTURES)
    encoder, special = plain_text_tokenizer(tokenizer), special_tokens(tokenizer)

    def encode(text: str) -> list[int]:
        return encoder.encode(text, add_special_tokens=False).ids

    make_row = _encoder_decoder_row if model.config.is_encoder_decoder else _decoder_row
    limit = max_sequence_length(model.config)
    rows: list[ScoredRow] = []
    n_cut = 0
    for prompt in prompts:
        stripped = prompt.rstrip(" ")
        targets = [encode(prompt[len(stripped) :] + label) for label in labels]
        for label, tokens in zip(labels, targets, strict=True):
            if not tokens:
                raise BitcipherError(f"The words {label!r} for a label have no tokens; choose others.")
        ids = encode(stripped)
        # The end token precedes the prompt, and the last token of the words is only predicted.
        room = len(ids) if limit is None else limit - max(map(len, targets))
        if room < 1:
            raise BitcipherError(f"The words for a label leave no room for a prompt in {limit} tokens; shorten them.")
        n_cut += len(ids) > room
        kept = ids[max(0, len(ids) - room) :]
        rows += [make_row(len(rows) + number, kept, tokens, special) for number, tokens in enumerate(targets)]
    sums = log_likelihoods(model, rows, len(rows))
    means = sums / [len(row.targets) for row in rows]
    return means.reshape(len(prompts), len(labels)), n_cut


def _decoder_row(item: int, prompt: list[int], tokens: list[int], special: SpecialTokens) -> ScoredRow:
    inputs = [special.end, *prompt, *tokens[:-1]]
    return ScoredRow(item, inputs, list(range(len(prompt), len(inputs))), tokens)


def _encoder_decoder_row(item: int, prompt: list[int], tokens: list[int], special: SpecialTokens) -> ScoredRow:
    targets = [*tokens, special.end]
    return ScoredRow(item, [*prompt, special.end], list(range(len(targets))), targets, (special.pad, *tokens))

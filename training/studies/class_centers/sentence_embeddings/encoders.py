"""Embeddings of texts by an encoder, and by the same encoder with random weights."""

from collections.abc import Sequence

import numpy as np
import torch
from tokenizers import Tokenizer
from transformers import PreTrainedModel

from bitcipher.errors import BitcipherError
from training.models.encoders import architecture_of
from training.models.options import ENCODERS
from training.models.replaced_tokens import find_encoder
from training.models.sentence_views import embed_sentences
from training.tasks.base import Features
from training.tasks.finetuning.examples import select_rows
from training.tasks.finetuning.finetuning_run import make_encoder

SENTENCES_PER_BATCH = 64
# Seed of random weights.
RANDOM_SEED = 1


def check_encoder(model: PreTrainedModel) -> PreTrainedModel:
    """Return the part of a model that embeds sentences: the discriminator of a pair, or the model itself.

    Raises:
        BitcipherError: if the model is no encoder.
    """
    encoder = find_encoder(model)
    if architecture_of(encoder.base_model.config) not in ENCODERS:
        raise BitcipherError(
            f"A {architecture_of(model.config)} is no encoder, whose hidden states see the whole sentence; use a model "
            f"of {', '.join(ENCODERS)}."
        )
    return encoder


def with_random_weights(encoder: PreTrainedModel) -> PreTrainedModel:
    """Return a model of the same configuration with random weights, which depend on `RANDOM_SEED` only."""
    with torch.random.fork_rng(devices=[]):
        torch.default_generator.manual_seed(RANDOM_SEED)
        return type(encoder)(encoder.config)


@torch.no_grad()
def encode_texts(encoder: PreTrainedModel, tokenizer: Tokenizer, texts: Sequence[str]) -> np.ndarray:
    """Return the embeddings [N, H] float32 of texts; see `embed_sentences`.

    Args:
        encoder: model from `check_encoder`; it is set to evaluation mode.
        tokenizer: tokenizer of the model.
        texts: N texts. Longer ones than the model reads are truncated.
    """
    encoder.eval()
    rows = make_encoder(encoder.base_model.config, tokenizer, None)
    room = rows.room(pair=False)
    ids = [pieces.ids[:room] for pieces in rows.pieces(texts)]
    inputs = Features(rows.rows([(tokens, None) for tokens in ids]), targets={}, notes={})
    embeddings = np.empty((len(texts), encoder.base_model.config.hidden_size), np.float32)
    # Rows of similar lengths need little padding.
    order = np.argsort([len(tokens) for tokens in ids], kind="stable")
    for start in range(0, len(order), SENTENCES_PER_BATCH):
        numbers = order[start : start + SENTENCES_PER_BATCH]
        batch = {name: torch.from_numpy(values) for name, values in select_rows(inputs, numbers).items()}
        batch = {name: values.to(encoder.device) for name, values in batch.items()}
        embeddings[numbers] = embed_sentences(encoder, batch).float().cpu().numpy()
    return embeddings

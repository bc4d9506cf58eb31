"""Initialization of a language model's token embeddings with cipher vectors."""

from training.embeddings.freeze_schedule import FreezeSchedule, freeze_all_but_embeddings, set_embeddings_frozen
from training.embeddings.initialize import EmbeddingInitReport, init_embeddings, scale_embeddings
from training.embeddings.options import EmbeddingInitOptions
from training.embeddings.token_embeddings import (
    TokenEmbeddings,
    cat_bits_and_window,
    resize_vectors,
    token_embeddings,
)

__all__ = [
    "EmbeddingInitOptions",
    "EmbeddingInitReport",
    "FreezeSchedule",
    "TokenEmbeddings",
    "cat_bits_and_window",
    "freeze_all_but_embeddings",
    "init_embeddings",
    "resize_vectors",
    "scale_embeddings",
    "set_embeddings_frozen",
    "token_embeddings",
]

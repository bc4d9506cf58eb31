"""Initialization of a language model's token embeddings with cipher vectors."""

from typing import TYPE_CHECKING

from bitcipher.lazy_names import lazy_names

if TYPE_CHECKING:
    from training.embeddings.embedding_table import (
        TokenEmbeddings,
        cat_bits_and_window,
        resize_vectors,
        token_embeddings,
    )
    from training.embeddings.freeze_schedule import FreezeSchedule, freeze_all_but_embeddings, set_embeddings_frozen
    from training.embeddings.initialize import EmbeddingInitReport, init_embeddings, scale_embeddings
    from training.embeddings.options import EmbeddingInitOptions

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

__getattr__ = lazy_names(
    __name__,
    {
        "freeze_schedule": ("FreezeSchedule", "freeze_all_but_embeddings", "set_embeddings_frozen"),
        "initialize": ("EmbeddingInitReport", "init_embeddings", "scale_embeddings"),
        "options": ("EmbeddingInitOptions",),
        "embedding_table": ("TokenEmbeddings", "cat_bits_and_window", "resize_vectors", "token_embeddings"),
    },
)

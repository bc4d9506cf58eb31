"""Cipher vectors as the embedding layer of a language model."""

from training.embeddings.freeze_schedule import FreezeSchedule, freeze_all_but_table, set_frozen
from training.embeddings.install import EmbeddingInitReport, install_table, scale_table
from training.embeddings.options import EmbeddingInitOptions
from training.embeddings.token_table import TokenTable, bits_for, fit_width, token_table

__all__ = [
    "EmbeddingInitOptions",
    "EmbeddingInitReport",
    "FreezeSchedule",
    "TokenTable",
    "bits_for",
    "fit_width",
    "freeze_all_but_table",
    "install_table",
    "scale_table",
    "set_frozen",
    "token_table",
]

"""Cipher vectors as the embedding layer of a language model."""

from training.embeddings.freezing import Table, freeze_all_but_table, set_frozen
from training.embeddings.install import Installed, install_table, scale_table
from training.embeddings.options import StartOptions
from training.embeddings.table import TokenTable, bits_for, fit_width, token_table

__all__ = [
    "Installed",
    "StartOptions",
    "Table",
    "TokenTable",
    "bits_for",
    "fit_width",
    "freeze_all_but_table",
    "install_table",
    "scale_table",
    "set_frozen",
    "token_table",
]

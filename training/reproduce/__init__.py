"""Reproduction of tables and figures of papers."""

from typing import TYPE_CHECKING

from bitcipher.lazy_names import lazy_names

if TYPE_CHECKING:
    from training.reproduce.tables import reproduce_tables

__all__ = ["reproduce_tables"]

__getattr__ = lazy_names(__name__, {"tables": ["reproduce_tables"]})

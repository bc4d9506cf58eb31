"""Reproduction of the tables and figures of Zhao & Williams (2023), *Bit Cipher*."""

from training.reproduce.tables import reproduce_tables

__all__ = ["reproduce_tables"]

"""Reproduction of the paper's tables and figures, which combine builds, probes and training."""

from training.reproduce.tables import reproduce_tables

__all__ = ["reproduce_tables"]

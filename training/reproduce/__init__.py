"""The paper's tables and figures, made again: here, because they take builds, probes and training alike."""

from training.reproduce.tables import reproduce_tables

__all__ = ["reproduce_tables"]

"""The paper's tables, made again from the kept counts of builds: here, because it takes builds and probes alike."""

from cluster.reproduce.tables import reproduce_tables

__all__ = ["reproduce_tables"]

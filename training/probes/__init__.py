"""Probes: how much of part of speech and entities vectors hold, word by word."""

from training.probes.probe import ProbeResult, SeedResult, probe
from training.probes.tasks import TASKS, read_task

__all__ = ["TASKS", "ProbeResult", "SeedResult", "probe", "read_task"]

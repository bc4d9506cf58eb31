"""Probes: part-of-speech and entity classifiers that see one word vector at a time."""

from training.probes.probe import ProbeResult, SeedResult, probe
from training.probes.tasks import TASKS, read_task

__all__ = ["TASKS", "ProbeResult", "SeedResult", "probe", "read_task"]

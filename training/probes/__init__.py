"""Probes: part-of-speech and entity classifiers that see one word vector at a time."""

from typing import TYPE_CHECKING

from bitcipher.lazy_names import lazy_names

if TYPE_CHECKING:
    from training.probes.probe_scores import ProbeResult, SeedResult, probe
    from training.probes.tasks import TASKS, read_task

__all__ = ["TASKS", "ProbeResult", "SeedResult", "probe", "read_task"]

__getattr__ = lazy_names(
    __name__,
    {
        "probe_scores": ("ProbeResult", "SeedResult", "probe"),
        "tasks": ("TASKS", "read_task"),
    },
)

"""Model-FLOPs utilization (Chowdhery et al. 2022, "PaLM", appendix B): FLOPs of the model per second over the peak."""

from collections.abc import Callable

import torch

from training.loop.distributed import World, autocast_dtype
from training.loop.options import LoopOptions
from training.loop.step import StepData

# Dense bfloat16 FLOPs per second of NVIDIA's data sheets, by the beginning of the name that torch reports. Longer names
# stand first.
BFLOAT16_PEAKS = {
    "NVIDIA B200": 2250e12,
    "NVIDIA H200 NVL": 835.5e12,
    "NVIDIA H200": 989e12,
    "NVIDIA H100 NVL": 835.5e12,
    "NVIDIA H100 PCIe": 756e12,
    "NVIDIA H100": 989e12,
    "NVIDIA A100": 312e12,
    "NVIDIA L40S": 362e12,
    "NVIDIA L4": 121e12,
}


def find_peak_flops(options: LoopOptions, world: World) -> float | None:
    """Return the peak FLOPs per second of a worker's device, or None if they are not known.

    `loop.peak_tflops` takes precedence. Otherwise, the peak is known for GPUs of `BFLOAT16_PEAKS` that compute with
    bfloat16.
    """
    if options.peak_tflops is not None:
        return options.peak_tflops * 1e12
    if world.device.type != "cuda" or autocast_dtype(world, options) is not torch.bfloat16:
        return None
    return peak_of(torch.cuda.get_device_name(world.device))


def peak_of(name: str) -> float | None:
    """Return the dense bfloat16 FLOPs per second of a GPU, or None if its name is unknown."""
    return next((peak for beginning, peak in BFLOAT16_PEAKS.items() if name.startswith(beginning)), None)


class UtilizationMeter:
    """Counts the FLOPs of a worker's steps between two lines of the metrics.

    Args:
        flops_of_sequence: function that returns the FLOPs of a training sequence, forward and backward. Its argument is
            the mean number of predictions per sequence.
        peak_flops: peak FLOPs per second of the worker's device.
        seconds: time of all steps before the first one that is counted.
    """

    def __init__(self, flops_of_sequence: Callable[[float], float], peak_flops: float, seconds: float):
        self._flops_of_sequence = flops_of_sequence
        self._peak_flops = peak_flops
        self._seconds = seconds
        self._flops = 0.0
        self._sequences = 0

    def note(self, data: StepData, n_sequences: int) -> None:
        """Count a step.

        Args:
            data: the worker's data of the step.
            n_sequences: number of sequences in it.
        """
        self._flops += n_sequences * self._flops_of_sequence(data.n_targets / n_sequences)
        self._sequences += n_sequences

    def read(self, seconds: float, tokens_per_sequence: int, n_workers: int) -> dict[str, float]:
        """Return `tokens_per_second` of all workers and `model_flops_utilization`, and count from here on.

        Args:
            seconds: time of all steps so far.
            tokens_per_sequence: number of tokens of a sequence.
            n_workers: number of workers, which all process as many sequences.
        """
        elapsed = seconds - self._seconds
        values = {
            "tokens_per_second": n_workers * self._sequences * tokens_per_sequence / elapsed,
            "model_flops_utilization": self._flops / elapsed / self._peak_flops,
        }
        self._seconds, self._flops, self._sequences = seconds, 0.0, 0
        return {name: float(f"{value:.4g}") for name, value in values.items()}

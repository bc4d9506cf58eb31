"""Training commands in forked processes that have already loaded torch, and a folder of their runs."""

import hashlib
import json
import os
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import tiny_commands
from forked_commands import ForkedCommand, Outcome


def load_libraries() -> None:
    """Import what training commands need, so that forked processes start in no time."""
    import torch
    import torch.utils.tensorboard

    import training.comparison.curves.comparison
    import training.runs.launch.pretraining
    import training.runs.pretraining_run
    import training.runs.verify.run_checks
    from training.evaluation.decoding.stored_model import open_model

    assert open_model
    assert training.runs.pretraining_run
    torch.set_num_threads(1)


@dataclass(frozen=True)
class Runs:
    """Folder of runs and their text. Runs hold absolute paths, so a copy must have the same path when it is used."""

    folder: Path
    corpus: Path
    settings: tuple[str, ...] = ()

    @property
    def train_arguments(self) -> list[str]:
        """Arguments of the command that trains the run, or resumes it."""
        settings = tiny_commands.arguments_of(
            (*tiny_commands.SETTINGS, f"text.sources=[{self.corpus}]", *self.settings)
        )
        folders = ["--out", str(self.folder / "run"), "--prepared", str(self.folder / "prepared")]
        return ["train", "figure-4-random", *folders, *settings]

    def train(self, before: Callable[[], object] = lambda: None, result: Callable[[], object] | None = None) -> Outcome:
        """Train or resume the run. By default, the result is what an interruption must not change."""
        return ForkedCommand(self.train_arguments, result or self.state, before).wait()

    def state(self) -> object:
        """Return the digests of all checkpoints, and the metrics without their timings."""
        run = self.folder / "run"
        lines = [json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()]
        weights = {
            str(path.relative_to(run)): hashlib.sha256(path.read_bytes()).hexdigest()
            for path in sorted(run.glob("checkpoints/*/*.safetensors"))
        }
        return [weights, [{name: value for name, value in line.items() if name != "seconds"} for line in lines]]

    def restore(self, original: Path) -> None:
        """Replace the folder with a copy of another one."""
        shutil.rmtree(self.folder, ignore_errors=True)
        if original.exists():
            shutil.copytree(original, self.folder)


def interrupt_at_step(step: int) -> Callable[[], None]:
    """Return a function that makes the process exit before it logs a step."""

    def patch() -> None:
        from training.loop.metrics_logger import MetricsLogger

        write = MetricsLogger.write

        def write_or_exit(logger: MetricsLogger, number: int, metrics: dict) -> None:
            if number == step:
                os._exit(77)
            write(logger, number, metrics)

        MetricsLogger.write = write_or_exit

    return patch

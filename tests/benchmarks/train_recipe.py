"""Train a recipe of `bitcipher train` for a number of CPU seconds, and print its final validation perplexity as JSON.

train_recipe.py SECONDS PREPARED RECIPE SETTING…

PREPARED is the folder of prepared text, which runs share. Settings are those of `bitcipher train --set`. A short run
first measures the CPU time of a step, which gives the number of steps, because learning rates depend on it. CPU seconds
are those of the updates of the main process, without preparation, evaluations and checkpoints. Run it with
OMP_NUM_THREADS=1.
"""

import json
import sys
import tempfile
import time
from pathlib import Path

from pipelines.runtime.open_runtime import open_runtime
from pipelines.runtime.progress import StageProgress
from training.loop.metrics_logger import read_metrics
from training.runs.prepare.text import prepare_text
from training.runs.prepare.vectors import prepare_vectors
from training.runs.pretraining_run import run_pretraining
from training.runs.recipe import Recipe, find_recipe, read_recipe

CALIBRATION_STEPS = 40
EVAL_SEQUENCES = 4096


def train(recipe: Recipe, text: str, vectors: str | None) -> tuple[float, dict[str, float]]:
    """Train a recipe in a temporary folder, and return the CPU seconds of its updates and its final metrics."""
    marks: list[float] = []  # at each logged loss, after the first evaluation

    def advance(step: int, note: str) -> None:
        marks.append(time.process_time())

    with tempfile.TemporaryDirectory() as folder:
        values = {"recipe": recipe.to_dict(), "text": text, "vectors": vectors, "folder": folder}
        run_pretraining(values, advance)
        final = [line for line in read_metrics(Path(folder)) if "perplexity" in line][-1]
    # The first mark is the evaluation before the first step, the last one the evaluation after the last step.
    return marks[-2] - marks[0], final


def with_steps(recipe: Recipe, steps: int, sequences: int) -> Recipe:
    """Return the recipe with a number of steps, evaluated at the end only."""
    loop = {"max_steps": steps, "eval_steps": steps, "save_steps": steps, "eval_sequences": sequences, "device": "cpu"}
    return recipe.copy_with(loop=recipe.loop.copy_with(**loop))


def main() -> None:
    """Run the command."""
    seconds, prepared, name, *settings = sys.argv[1:]
    recipe = read_recipe(find_recipe(name), settings)
    progress = StageProgress()
    with open_runtime(0) as runtime:
        text = prepare_text(recipe.text, prepared, runtime, progress)
        vectors = prepare_vectors(recipe, text, prepared, runtime, progress)
    cost, _ = train(with_steps(recipe, CALIBRATION_STEPS, 1), str(text), vectors)
    steps = round(float(seconds) / cost * CALIBRATION_STEPS)
    cpu, final = train(with_steps(recipe, steps, EVAL_SEQUENCES), str(text), vectors)
    print(json.dumps({"recipe": name, "settings": settings, "steps": steps, "cpu": round(cpu, 1), **final}))


if __name__ == "__main__":
    main()

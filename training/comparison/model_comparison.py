"""Models that are pre-trained with equal options, fine-tuned on a task, and compared by their scores."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from bitcipher.files import storage
from pipelines.runtime.progress import StageProgress
from training.comparison.curves.comparison import compare_runs
from training.comparison.recipe_runs import set_sources, train_recipe
from training.comparison.score_table import score_table
from training.runs.launch.finetuning import FinetuningResult, launch_finetuning
from training.runs.recipe import find_recipe, read_recipe
from training.tasks.finetuning.options import make_finetune_options
from training.tasks.finetuning.task_files import read_task


class ComparedModel(NamedTuple):
    """Model of a comparison: a shipped recipe, and changes to it."""

    recipe: str
    changes: Sequence[str] = ()
    untrained: str | None = None
    """Name of the same model without pre-training, which is fine-tuned from random weights; None to leave it out."""


class ComparedRuns(NamedTuple):
    """Finished runs of a comparison."""

    pretraining: list[str]
    """Folders of the pre-training runs, in the order of seeds and models."""
    scores: dict[str, list[FinetuningResult]]
    """Fine-tuning runs of each model, one per seed."""


@dataclass(frozen=True)
class ModelComparison:
    """Options that all models of a comparison have in common."""

    task: str
    """Task of `bitcipher finetune`."""
    data: str
    """Folder of the task's files."""
    questions: str | None
    """Folder of train-v1.1.json and dev-v1.1.json with other questions, on which each model is fine-tuned before the
    task, by default for one epoch; None for the task alone."""
    out: str
    """Path or URI of the directory of the runs and of scores.md."""
    seeds: int
    """Number of runs per model; each has its own pre-training and fine-tuning."""
    settings: Sequence[str]
    """Changes to all recipes."""
    finetuning_settings: Sequence[str]
    """Changes to the options of fine-tuning, on `questions`, too."""
    workers: int
    """Number of Ray workers; 0 trains in this process."""
    progress: StageProgress

    def train(self, models: Mapping[str, ComparedModel], sources: Mapping[str, Sequence[str]]) -> ComparedRuns:
        """Pre-train and fine-tune all models; runs that are finished already are not repeated.

        Args:
            models: models by their names in the table.
            sources: sources of the text of each model.

        Raises:
            BitcipherError: if a source or the data is missing or damaged, or the directory has runs with other options.
        """
        settings = {name: [*each.changes, set_sources(sources[name]), *self.settings] for name, each in models.items()}
        for name, model in models.items():
            read_recipe(find_recipe(model.recipe), settings[name])
        self._check_finetuning()
        runs: list[str] = []
        scores: dict[str, list[FinetuningResult]] = {}
        for seed in range(1, self.seeds + 1):
            for name, model in models.items():
                changes = [*settings[name], f"seed={seed}"]
                folder = storage.join(self.out, f"{_as_path(name)}-{seed}")
                runs.append(train_recipe(model.recipe, folder, self.out, changes, self.workers, self.progress))
                scores.setdefault(name, []).append(self._finetune(folder, name, seed, random_init=False))
                if model.untrained is not None:
                    untrained = self._finetune(folder, model.untrained, seed, random_init=True)
                    scores.setdefault(model.untrained, []).append(untrained)
        return ComparedRuns(runs, scores)

    def report(
        self, title: str, models: Mapping[str, ComparedModel], sources: Sequence[str], squad2: Mapping[str, str]
    ) -> str:
        """Train all models on the same text, and write scores.md, curves.png, lead.png, curves.html and table.md.

        Args:
            title: title of the column of names.
            models: models by their names in the tables.
            sources: sources of the text for pre-training.
            squad2: published F1 and exact match of models on SQuAD 2.0.

        Returns:
            The tables of scores and of perplexities, in Markdown.

        Raises:
            BitcipherError: as `train` does.
        """
        runs = self.train(models, dict.fromkeys(models, sources))
        is_squad = self.task.startswith("squad")
        metrics = ("f1", "exact") if is_squad else (next(iter(runs.scores.values()))[0].main_metric,)
        paper = ("paper, F1 / exact match", squad2) if self.task == "squad2" else None
        table = self.write_scores(score_table(title, runs.scores, metrics, paper))
        return f"{table}\n{compare_runs(runs.pretraining, self.out).markdown()}"

    def write_scores(self, table: str) -> str:
        """Write scores.md, and return the table."""
        storage.write_bytes(storage.join(self.out, "scores.md"), table.encode())
        return table

    def _check_finetuning(self) -> None:
        """Check options and files of fine-tuning, which would otherwise be read after hours of pre-training."""
        make_finetune_options({"model": self.out, "task": self.task, "data": self.data}, self.finetuning_settings)
        read_task(self.task, self.data)
        if self.questions is not None:
            read_task("squad", self.questions)

    def _finetune(self, run: str, name: str, seed: int, *, random_init: bool) -> FinetuningResult:
        """Fine-tune a run on the other questions, if there are any, and on the task."""
        values = {"model": run, "seed": seed, "random_init": random_init}
        suffix = f"{_as_path(name)}-{seed}"
        if self.questions is not None:
            folder = storage.join(self.out, f"questions-{suffix}")
            self._launch(folder, values | {"task": "squad", "data": self.questions, "num_train_epochs": 1.0})
            values = {"model": folder, "seed": seed}
        folder = storage.join(self.out, f"{self.task}-{suffix}")
        return self._launch(folder, values | {"task": self.task, "data": self.data})

    def _launch(self, folder: str, values: dict[str, Any]) -> FinetuningResult:
        options = make_finetune_options(values, self.finetuning_settings)
        return launch_finetuning(options, folder, self.workers, self.progress)


def _as_path(name: str) -> str:
    """Return the name of a model for folders."""
    return name.lower().replace(", ", "-").replace(" ", "-")

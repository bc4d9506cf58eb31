"""Evaluation of a model on the validation split of a task."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from transformers import PreTrainedModel

from training.loop.distributed import World, autocast
from training.loop.options import LoopOptions
from training.loop.step import to_device
from training.tasks.base import Features, Task
from training.tasks.finetuning.examples import row_lengths, select_rows
from training.tasks.finetuning.losses import model_logits


@dataclass
class Evaluator:
    """Predicts and scores the validation split of a task. Each worker predicts a part of the rows."""

    task: Task
    features: Features
    """Features of the validation split."""
    options: LoopOptions
    latest_predictions: Sequence[Any] | None = field(default=None, init=False)
    """Predictions of the latest evaluation, one per example; None before the first evaluation."""

    def __call__(self, model: PreTrainedModel, world: World, advance: Callable[[float], None]) -> dict[str, float]:
        """Return the scores of the task by metric, in percent."""
        self.latest_predictions = self.predictions(model, world, advance)
        return self.task.score(self.latest_predictions)

    @torch.no_grad()
    def predictions(
        self, model: PreTrainedModel, world: World, advance: Callable[[float], None] = lambda fraction: None
    ) -> Sequence[Any]:
        """Return one prediction per example, the same on every worker.

        Args:
            model: model with the head of the task.
            world: this worker.
            advance: called with the fraction of this worker's part that is done.

        Raises:
            DivergenceError: if the outputs of the model are NaN.
        """
        size = self.options.micro_batch_size_for(world.size)
        by_length = np.argsort(row_lengths(self.features), kind="stable")  # little padding
        micro_batches = [by_length[start : start + size] for start in range(0, len(by_length), size)]
        outputs = {
            name: torch.zeros(shape, device=world.device)
            for name, shape in self._output_shapes(model.config.num_labels)
        }
        was_training = model.training
        model.eval()
        own = micro_batches[world.rank :: world.size]
        for number, rows in enumerate(own, 1):
            with autocast(world, self.options):
                logits = model_logits(model, to_device(select_rows(self.features, rows), world))
            for name, values in outputs.items():
                # Positions after the longest row of the micro-batch are padding, which tasks ignore.
                values[torch.from_numpy(rows), : logits[name].shape[1]] = logits[name]
            advance(number / len(own))
        model.train(was_training)
        world.all_reduce(list(outputs.values()))
        return self.task.predictions(self.features, {name: values.cpu().numpy() for name, values in outputs.items()})

    def _output_shapes(self, n_labels: int) -> list[tuple[str, tuple[int, ...]]]:
        rows, length = self.features.inputs["input_ids"].shape
        if self.task.kind == "question-answering":
            return [("start_logits", (rows, length)), ("end_logits", (rows, length))]
        return [("logits", (rows, length, n_labels) if self.task.kind == "token-classification" else (rows, n_labels))]


def describe_predictions(task: Task, predictions: Sequence[Any]) -> list[dict[str, Any]]:
    """Return predictions with their validation examples as plain values for JSON.

    Args:
        task: task with the validation examples.
        predictions: one prediction per validation example.
    """
    pairs = list(zip(task.validation, predictions, strict=True))
    if task.kind == "question-answering":
        questions: Any = task
        return [
            {
                "id": question.number,
                "answer": prediction.answer_at(questions.threshold) if questions.has_unanswerable else prediction.text,
                "no_answer_score": prediction.no_answer_score,
                "candidates": [candidate._asdict() for candidate in prediction.candidates],
            }
            for question, prediction in pairs
        ]
    if task.kind == "token-classification":
        return [{"words": [word for word, _ in sentence], "tags": tags} for sentence, tags in pairs]
    # Classes are described by their names, regression values as numbers.
    describe = float if task.kind == "regression" else lambda number: task.labels[int(number)]
    return [
        {**example._asdict(), "label": describe(example.label), "predicted": describe(predicted)}
        for example, predicted in pairs
    ]

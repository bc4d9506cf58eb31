"""How good a model is at a task: its predictions for the validation part, and their score."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from transformers import PreTrainedModel

from training.finetune.examples import rows_of
from training.finetune.losses import outputs_of
from training.loop import LoopOptions, World
from training.loop.steps import autocast, on_device
from training.tasks.base import Features, Task


@dataclass
class Evaluator:
    """Called at each evaluation; workers share out the rows."""

    task: Task
    features: Features
    """Of the validation part."""
    options: LoopOptions
    last: Sequence[Any] | None = field(default=None, init=False)
    """The predictions of the last evaluation, if there was one."""

    def __call__(self, model: PreTrainedModel, world: World) -> dict[str, float]:
        """The task's figures, in percent."""
        self.last = self.predictions(model, world)
        return self.task.score(self.last)

    @torch.no_grad()
    def predictions(self, model: PreTrainedModel, world: World) -> Sequence[Any]:
        """One for each example, the same on every worker.

        Raises:
            Diverged: if the model's outputs are NaN.
        """
        size = self.options.micro_batch_on(world.size)
        pieces = [
            np.arange(start, min(start + size, len(self.features))) for start in range(0, len(self.features), size)
        ]
        outputs = {
            name: torch.zeros(shape, device=world.device) for name, shape in self._shapes(model.config.num_labels)
        }
        was_training = model.training
        model.eval()
        for piece in pieces[world.rank :: world.size]:
            with autocast(world, self.options):
                found = outputs_of(model, on_device(rows_of(self.features, piece), world))
            for name, values in outputs.items():
                # Behind the longest row of the piece there is only padding, which has no say.
                values[piece[0] : piece[-1] + 1, : found[name].shape[1]] = found[name]
        model.train(was_training)
        world.add_up(list(outputs.values()))
        return self.task.predictions(self.features, {name: values.cpu().numpy() for name, values in outputs.items()})

    def _shapes(self, labels: int) -> list[tuple[str, tuple[int, ...]]]:
        rows, length = self.features.inputs["input_ids"].shape
        if self.task.kind == "question-answering":
            return [("start_logits", (rows, length)), ("end_logits", (rows, length))]
        return [("logits", (rows, length, labels) if self.task.kind == "token-classification" else (rows, labels))]


def readable(task: Task, predictions: Sequence[Any]) -> list[dict[str, Any]]:
    """Predictions beside their examples, as JSON has them."""
    pairs = list(zip(task.validation, predictions, strict=True))
    if task.kind == "question-answering":
        return [
            {
                "id": question.number,
                "answer": prediction.chosen(task.threshold) if task.has_unanswerable else prediction.text,
                "no_answer_score": prediction.no_answer_score,
                "candidates": [candidate._asdict() for candidate in prediction.candidates],
            }
            for question, prediction in pairs
        ]
    if task.kind == "token-classification":
        return [{"words": [word for word, _ in sentence], "tags": tags} for sentence, tags in pairs]
    # Labels by name, values as they are.
    told = float if task.kind == "regression" else lambda number: task.labels[int(number)]
    return [
        {**example._asdict(), "label": told(example.label), "predicted": told(predicted)}
        for example, predicted in pairs
    ]

"""Quantities derived from findings: costs, perplexities, mean scores, and pairs of models."""

import math
from collections import defaultdict
from dataclasses import dataclass
from statistics import fmean, stdev
from typing import Any

from bitcipher.errors import BitcipherError
from training.studies.downscaling.scaling.modernbert_shape import ModernBertShape
from training.studies.downscaling.scaling.shape import LENGTH, POSITIONS, Shape
from training.studies.downscaling.sweep.findings import Findings, PretrainedModel

# The exponential of a larger loss overflows float64 (at 709.78).
_LARGEST_LOSS = 700.0


@dataclass(frozen=True)
class Spread:
    """Mean and standard deviation over seeds."""

    mean: float
    deviation: float | None
    """Standard deviation over seeds (n - 1); None for one seed."""


@dataclass(frozen=True)
class Gain:
    """Gain from pre-training: mean score of models minus that of the same models without pre-training."""

    points: Spread
    """Gain in percentage points: mean over models. Its deviation is over the seeds that all these models have."""
    better: int
    """Number of models whose score is better with pre-training."""
    models: int
    """Number of models."""


@dataclass(frozen=True)
class InitPair:
    """Models of one shape with random and with cipher init."""

    random: PretrainedModel
    cipher: PretrainedModel


class Measures:
    """Findings with derived quantities.

    Args:
        findings: findings of a study, finished or not.

    Raises:
        BitcipherError: if two models have the same shape, init and language.
    """

    def __init__(self, findings: Findings):
        self.findings = findings
        self.length: int = findings.recipe.get("pretraining", {}).get("max_position_embeddings", LENGTH)
        """Tokens of a sequence."""
        self._models: dict[tuple[Shape, str, str], PretrainedModel] = {}
        for model in findings.models:
            other = self._models.setdefault((model.shape, model.init, model.language), model)
            if other is not model:
                raise BitcipherError(
                    f"{other.name} and {model.name} have the same shape, init and language; leave one of them out."
                )
        self._scores = _by_seed(findings)

    def select(self, init: str = "random", language: str = "constrained") -> list[PretrainedModel]:
        """Return the models with an init, trained on the `constrained` or `unconstrained` language, by FLOPs."""
        chosen = [model for model in self.findings.models if (model.init, model.language) == (init, language)]
        return sorted(chosen, key=lambda model: (self.sequence_flops(model), model.shape.name))

    def find(self, shape: Shape, init: str = "random", language: str = "constrained") -> PretrainedModel | None:
        """Return the model of a shape, or None."""
        return self._models.get((shape, init, language))

    def parameters(self, model: PretrainedModel) -> int:
        """Return the number of parameters; the output layer of a RoBERTa is untied, that of a ModernBERT tied."""
        positions, is_tied = self.length + POSITIONS - LENGTH, isinstance(model.shape, ModernBertShape)
        return model.shape.parameters(is_tied, model.vocabulary, positions)

    def sequence_flops(self, model: PretrainedModel) -> int:
        """Return the FLOPs of one training sequence, counted as in the tables of Deshpande et al. (2023)."""
        return model.shape.flops_published(model.vocabulary, self.length)

    def flops(self, model: PretrainedModel) -> int:
        """Return the training FLOPs so far."""
        return (model.evaluations[-1].sequences if model.evaluations else 0) * self.sequence_flops(model)

    def flops_spent(self, model: PretrainedModel) -> float:
        """Return the FLOPs of the matrix products of training so far."""
        sequences = model.evaluations[-1].sequences if model.evaluations else 0
        share = self.findings.recipe.get("pretraining", {}).get("mlm_probability", 0.15)
        predictions = share * (self.length - 2)  # begin and end of a sequence are not masked
        return sequences * model.shape.flops_spent(predictions, model.vocabulary, self.length)

    def perplexity(self, model: PretrainedModel) -> float | None:
        """Return the final test perplexity; None if the run has not finished or the perplexity is not finite."""
        loss = model.test_loss
        return math.exp(loss) if loss is not None and loss < _LARGEST_LOSS else None

    def development_perplexity(self, model: PretrainedModel) -> float | None:
        """Return the perplexity of the latest evaluation; None if there is none, or it is not finite."""
        loss = model.evaluations[-1].loss if model.evaluations else math.inf
        return math.exp(loss) if loss < _LARGEST_LOSS else None

    def checkpoints(self, model: PretrainedModel) -> list[PretrainedModel]:
        """Return a model as it was at the earlier steps that were fine-tuned, by step, and as it is at its end.

        Empty if no earlier step was fine-tuned.
        """
        own = (model.shape, model.init, model.language)
        earlier = [each for each in self.findings.checkpoints if (each.shape, each.init, each.language) == own]
        return [*sorted(earlier, key=self.flops), model] if earlier else []

    def glue_by_seed(
        self, model: PretrainedModel, *, filtered: bool, untrained: bool = False, last: bool = False
    ) -> dict[int, float]:
        """Return the mean over tasks in percent, for each seed that has all tasks of the study.

        Args:
            model: pre-trained model.
            filtered: use scores on filtered examples instead of unfiltered examples.
            untrained: use the scores of the same model without pre-training, fine-tuned from random weights.
            last: use scores after the last epoch instead of the best epoch.
        """
        found = self._scores.get((model.name, filtered, untrained), {})
        tasks = {task for (_, kind, _), seeds in self._scores.items() if kind == filtered for task in _tasks(seeds)}
        return {
            seed: fmean(scores[task][last] for task in sorted(tasks))
            for seed, scores in sorted(found.items())
            if scores.keys() == tasks
        }

    def glue(self, model: PretrainedModel, *, filtered: bool, untrained: bool = False) -> Spread | None:
        """Average the scores over tasks, and return the spread over seeds; None if no seed has all tasks."""
        return _spread(list(self.glue_by_seed(model, filtered=filtered, untrained=untrained).values()))

    def gain(self, *, filtered: bool, last: bool = False) -> Gain | None:
        """Return the gain from pre-training, for models with random init on the constrained language.

        Scores with and without pre-training are compared per seed, over the seeds that have both.

        Returns:
            The gain, or None if no seed of any model has both scores.
        """
        differences: list[dict[int, float]] = []
        for model in self.select():
            trained, baseline = (
                self.glue_by_seed(model, filtered=filtered, untrained=flag, last=last) for flag in (False, True)
            )
            if common := trained.keys() & baseline.keys():
                differences.append({seed: trained[seed] - baseline[seed] for seed in sorted(common)})
        if not differences:
            return None
        means = [fmean(each.values()) for each in differences]
        seeds = sorted(set.intersection(*(set(each) for each in differences)))
        over_seeds = [fmean(each[seed] for each in differences) for seed in seeds]
        deviation = stdev(over_seeds) if len(over_seeds) > 1 else None
        return Gain(Spread(fmean(means), deviation), sum(mean > 0 for mean in means), len(means))

    def init_pairs(self) -> list[InitPair]:
        """Return the shapes that have both inits on the constrained language, by size."""
        pairs = [InitPair(random, cipher) for cipher in self.select("cipher") if (random := self.find(cipher.shape))]
        return sorted(pairs, key=lambda pair: (self.parameters(pair.random), pair.random.shape.name))

    def init_ratio(self, pair: InitPair) -> float | None:
        """Return the test perplexity of cipher init divided by that of random init; None unless both have finished."""
        random, cipher = self.perplexity(pair.random), self.perplexity(pair.cipher)
        return cipher / random if random is not None and cipher is not None else None


def step_of_equal_loss(pair: InitPair) -> float | None:
    """Return the step at which the development loss with cipher init first reaches the final loss with random init.

    The loss is interpolated linearly between evaluations.

    Returns:
        The step, or None if the loss is never reached or the run with random init has not finished.
    """
    if pair.random.test_loss is None or not pair.random.evaluations:
        return None
    end = pair.random.evaluations[-1].loss
    before = None
    for evaluation in pair.cipher.evaluations:
        if evaluation.loss <= end:
            if before is None or not math.isfinite(before.loss):
                return float(evaluation.step)
            fraction = (before.loss - end) / (before.loss - evaluation.loss)
            return before.step + fraction * (evaluation.step - before.step)
        before = evaluation
    return None


def _by_seed(findings: Findings) -> dict[tuple[str, bool, bool], dict[int, dict[str, tuple[float, float]]]]:
    """Return (best, last) scores by (model, filtered, random_init), then by seed, then by task."""
    scores: Any = defaultdict(lambda: defaultdict(dict))
    for score in findings.scores:
        if all(value is not None and math.isfinite(value) for value in (score.best, score.last)):
            scores[score.model, score.filtered, score.random_init][score.seed][score.task] = (score.best, score.last)
    return scores


def _tasks(seeds: dict[int, dict[str, tuple[float, float]]]) -> set[str]:
    return {task for scores in seeds.values() for task in scores}


def _spread(values: list[float]) -> Spread | None:
    return Spread(fmean(values), stdev(values) if len(values) > 1 else None) if values else None

"""What follows from findings by arithmetic: costs, perplexities, mean scores, and models that belong together."""

import math
from collections import defaultdict
from dataclasses import dataclass
from statistics import fmean, stdev

from bitcipher.errors import BitcipherError
from training.scaling import LENGTH, POSITIONS, Shape
from training.sweep.findings import Findings, PretrainedModel

# A loss whose perplexity is no float64 is no result (the natural logarithm of the largest one is 709.78).
_LARGEST_LOSS = 700.0


@dataclass(frozen=True)
class Spread:
    """A mean, and how far seeds are from it."""

    mean: float
    deviation: float | None
    """Standard deviation over seeds (n - 1); None for one seed."""


@dataclass(frozen=True)
class Gain:
    """What pre-training adds to the mean score of a shape."""

    points: Spread
    """Mean over models; its spread is that of the seeds which all these models have."""
    better: int
    """Models that are better than their random twins."""
    models: int


@dataclass(frozen=True)
class InitPair:
    """A shape that was trained from both starts."""

    random: PretrainedModel
    cipher: PretrainedModel


class Measures:
    """Findings with all that is worked out of them.

    Args:
        findings: of a study, ended or not.

    Raises:
        BitcipherError: if two models have the same shape, start and language.
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
                    f"{other.name} and {model.name} are models of one shape, start and language: leave one of them out."
                )
        self._scores = _by_seed(findings)

    def select(self, init: str = "random", language: str = "constrained") -> list[PretrainedModel]:
        """Models of a start and a language, in increasing order of FLOPs."""
        chosen = [model for model in self.findings.models if (model.init, model.language) == (init, language)]
        return sorted(chosen, key=lambda model: (self.sequence_flops(model), model.shape.name))

    def find(self, shape: Shape, init: str = "random", language: str = "constrained") -> PretrainedModel | None:
        """The model of a shape."""
        return self._models.get((shape, init, language))

    def parameters(self, model: PretrainedModel) -> int:
        """With a head of its own, as all models of a study have it."""
        positions = self.length + POSITIONS - LENGTH
        return model.shape.parameters(vocabulary=model.vocabulary, positions=positions)

    def sequence_flops(self, model: PretrainedModel) -> int:
        """FLOPs of one training sequence, as the paper's tables have them."""
        return model.shape.flops_published(model.vocabulary, self.length)

    def flops(self, model: PretrainedModel) -> int:
        """FLOPs of its training up to now."""
        return (model.evaluations[-1].sequences if model.evaluations else 0) * self.sequence_flops(model)

    def perplexity(self, model: PretrainedModel) -> float | None:
        """On the test part at the end; None for a model that did not end, or has no finite one."""
        loss = model.test_loss
        return math.exp(loss) if loss is not None and loss < _LARGEST_LOSS else None

    def glue_by_seed(
        self, model: PretrainedModel, *, filtered: bool, random: bool = False, last: bool = False
    ) -> dict[int, float]:
        """Mean over tasks in percent, of each seed that has all tasks of the study.

        Args:
            model: that was fine-tuned.
            filtered: over the filtered tasks, or the unfiltered ones.
            random: of the model's random twin.
            last: after the last epoch instead of the best one.
        """
        found = self._scores.get((model.name, filtered, random), {})
        tasks = {task for (_, kind, _), seeds in self._scores.items() if kind == filtered for task in _tasks(seeds)}
        return {
            seed: fmean(scores[task][last] for task in sorted(tasks))
            for seed, scores in sorted(found.items())
            if scores.keys() == tasks
        }

    def glue(self, model: PretrainedModel, *, filtered: bool, random: bool = False) -> Spread | None:
        """Mean and standard deviation over seeds of the mean over tasks; None if no seed has all tasks."""
        return _spread(list(self.glue_by_seed(model, filtered=filtered, random=random).values()))

    def gain(self, *, filtered: bool, last: bool = False) -> Gain | None:
        """Of pre-training over the random twin, over random and constrained models; None if no twin was judged.

        Scores are compared seed by seed, so that seeds which only one of the two has do not count.
        """
        differences: list[dict[int, float]] = []
        for model in self.select():
            trained, twin = (
                self.glue_by_seed(model, filtered=filtered, random=random, last=last) for random in (False, True)
            )
            if common := trained.keys() & twin.keys():
                differences.append({seed: trained[seed] - twin[seed] for seed in sorted(common)})
        if not differences:
            return None
        means = [fmean(each.values()) for each in differences]
        seeds = sorted(set.intersection(*(set(each) for each in differences)))
        over_seeds = [fmean(each[seed] for each in differences) for seed in seeds]
        deviation = stdev(over_seeds) if len(over_seeds) > 1 else None
        return Gain(Spread(fmean(means), deviation), sum(mean > 0 for mean in means), len(means))

    def init_pairs(self) -> list[InitPair]:
        """Shapes of constrained models that have both starts, from the smallest to the largest."""
        pairs = [InitPair(random, cipher) for cipher in self.select("cipher") if (random := self.find(cipher.shape))]
        return sorted(pairs, key=lambda pair: (self.parameters(pair.random), pair.random.shape.name))

    def init_ratio(self, pair: InitPair) -> float | None:
        """The cipher init's perplexity by the random one's; None unless both ended."""
        random, cipher = self.perplexity(pair.random), self.perplexity(pair.cipher)
        return cipher / random if random is not None and cipher is not None else None


def steps_to_random_loss(pair: InitPair) -> float | None:
    """The step at which the cipher init's development loss first comes down to the random init's last one.

    Between two evaluations the loss is taken as a straight line. None if it never does, or the random one did not end.
    """
    if pair.random.test_loss is None or not pair.random.evaluations:
        return None
    end = pair.random.evaluations[-1].loss
    before = None
    for evaluation in pair.cipher.evaluations:
        if evaluation.loss <= end:
            if before is None or not math.isfinite(before.loss):
                return float(evaluation.step)
            share = (before.loss - end) / (before.loss - evaluation.loss)
            return before.step + share * (evaluation.step - before.step)
        before = evaluation
    return None


def _by_seed(findings: Findings) -> dict[tuple[str, bool, bool], dict[int, dict[str, tuple[float, float]]]]:
    """Best and last score by model, kind and twin; seed; and task."""
    scores: dict = defaultdict(lambda: defaultdict(dict))
    for score in findings.scores:
        if all(value is not None and math.isfinite(value) for value in (score.best, score.last)):
            scores[score.model, score.filtered, score.random_init][score.seed][score.task] = (score.best, score.last)
    return scores


def _tasks(seeds: dict[int, dict[str, tuple[float, float]]]) -> set[str]:
    return {task for scores in seeds.values() for task in scores}


def _spread(values: list[float]) -> Spread | None:
    return Spread(fmean(values), stdev(values) if len(values) > 1 else None) if values else None

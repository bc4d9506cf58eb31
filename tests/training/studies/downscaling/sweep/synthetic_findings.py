"""Synthetic findings of a study: losses from a known power law, and scores from a formula."""

import math
from dataclasses import replace

from training.studies.downscaling.scaling.shape import LENGTH, Shape
from training.studies.downscaling.scaling.shapes import ANCHOR, set_1, smallest
from training.studies.downscaling.sweep.findings import Evaluation, Findings, PretrainedModel, Score

VOCABULARY = 4_000
SEQUENCES_PER_STEP = 16
STEPS = tuple(range(0, 201, 10))
# Every compute-optimal point lies on loss = COEFFICIENT · FLOPs ** EXPONENT.
COEFFICIENT, EXPONENT = 250.0, -0.13
TASKS = ("cola", "rte")
SEEDS = (1, 2, 3)


def loss_at(flops: float) -> float:
    return COEFFICIENT * flops**EXPONENT


def made_model(
    shape: Shape, init: str = "random", language: str = "constrained", vocabulary: int = VOCABULARY, **others
):
    """Return a model with losses on the law; a bit lower for cipher init, and higher for the unconstrained language."""
    factor = {"random": 1.0, "cipher": 0.97}[init] * (1.1 if language == "unconstrained" else 1.0)
    evaluations = tuple(
        Evaluation(
            step,
            step * SEQUENCES_PER_STEP,
            factor * loss_at(step * SEQUENCES_PER_STEP * shape.flops_published(vocabulary)) if step else 8.3,
        )
        for step in STEPS
    )
    name = "-".join([shape.name, *[init] * (init != "random"), *[language] * (language != "constrained")])
    made = PretrainedModel(name, shape, init, language, vocabulary, evaluations, evaluations[-1].loss + 0.01)
    return replace(made, **others)


def made_score(model: str, task: str, filtered: bool, random: bool, seed: int) -> Score:
    """Return a score that depends on all arguments by a formula."""
    shape = Shape.from_name("-".join(model.split("-")[:5]))
    best = 40 + 2 * math.log2(shape.hidden) + 3 * filtered - 5 * random + 10 * (task == "cola") + 0.5 * seed * seed
    best += 1.5 * ("cipher" in model) - 4 * ("unconstrained" in model) - 2 * (random and seed == 2)
    return Score(model, task, filtered, random, seed, best, best - 0.25 * seed)


def made_scores(models) -> tuple[Score, ...]:
    return tuple(
        made_score(model.name, task, filtered, random, seed)
        for model in models
        for task in TASKS
        for seed in SEEDS
        for filtered, random in ((True, False), (False, False), (True, True))
        if not random or (model.init, model.language) == ("random", "constrained")
    )


def counts(examined: int, kept: int, words: int) -> dict[str, object]:
    return {
        "documents": {"train": 90, "test": 10},
        "words": 50 * examined,
        "spans": {"examined": examined, "kept": kept, "share_kept": kept / examined, "words_kept": words},
        "sentences": {
            "examined": 3 * examined,
            "kept": 2 * kept,
            "share_kept": 2 * kept / (3 * examined),
            "words_kept": words // 2,
        },
        "constrained": {"train": kept - 7, "test": 7},
        "unconstrained": {"train": kept - 9, "test": 7, "missing": 2},
    }


ACCOUNTING = {
    "total": counts(3_000, 450, 49_000),
    "folders": {
        "/data/stories": counts(1_000, 200, 22_000),
        "/data/<b>letters & | co": counts(2_000, 250, 27_000),
    },
}
TOKENIZERS = (
    {"kind": "bpe", "size": 4_000, "ratio": 1.314, "esms": 0.27171, "chosen": True},
    {"kind": "bpe", "size": 3_000, "ratio": 1.36, "esms": 0.29, "chosen": False},
    {"kind": "bpe", "size": None, "ratio": 1.32, "esms": 0.1547, "chosen": False},
)
RECIPE = {
    "seed": 0,
    "pretraining": {"max_position_embeddings": LENGTH, "inits": ["random", "cipher"], "loop": {"max_steps": 200}},
}


def whole_study() -> Findings:
    """Return findings with all parts: random init of all shapes, cipher init of four, unconstrained models of two."""
    shapes = (*set_1(), *smallest())
    random = [made_model(shape) for shape in shapes]
    cipher = [made_model(shape, "cipher") for shape in (*smallest(), ANCHOR)]
    unconstrained = [made_model(shape, language="unconstrained", vocabulary=6_000) for shape in (ANCHOR, smallest()[0])]
    models = (*random, *cipher, *unconstrained)
    return Findings(ACCOUNTING, TOKENIZERS, models, made_scores(models), RECIPE)


def begun_study() -> Findings:
    """Return findings of a study whose first model has only the evaluation before its first step."""
    first = made_model(ANCHOR)
    return Findings({}, (), (replace(first, evaluations=first.evaluations[:1], test_loss=None),), (), {})

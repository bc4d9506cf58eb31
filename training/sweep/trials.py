"""The trials of a study: which models are pre-trained, and what each is fine-tuned on; what each trial runs."""

from collections.abc import Sequence
from dataclasses import dataclass

from bitcipher import storage
from training.data import TokenizerOptions
from training.embeddings import EmbeddingInitOptions
from training.finetune import GLUE, FinetuneOptions
from training.loop import LoopOptions
from training.models import ModelOptions
from training.recipe import Recipe, TextOptions
from training.scaling import Shape, select_spanning
from training.sweep.options import LANGUAGES, SETS, Study

CONSTRAINED, UNCONSTRAINED = LANGUAGES


@dataclass(frozen=True)
class PretrainingTrial:
    """A model to be pre-trained."""

    shape: Shape
    init: str = "random"
    language: str = CONSTRAINED

    @property
    def name(self) -> str:
        """The shape's, and how the trial differs from the random and constrained one of that shape."""
        differs = [self.init] * (self.init != "random") + [self.language] * (self.language != CONSTRAINED)
        return "-".join([self.shape.name, *differs])


@dataclass(frozen=True)
class FinetuningTrial:
    """A pre-trained model to be fine-tuned and judged, or its random twin."""

    model: str
    """The name of its pre-training."""
    task: str
    filtered: bool
    random_init: bool
    seed: int

    @property
    def name(self) -> str:
        """Such as "256-32-1024-8-8/cola-filtered-random-1"."""
        part = "filtered" if self.filtered else "unfiltered"
        return f"{self.model}/{self.task}-{part}{'-random' * self.random_init}-{self.seed}"


def select_shapes(study: Study, vocabulary: int) -> tuple[Shape, ...]:
    """The shapes of a study, each once, in increasing order of their FLOPs.

    Args:
        study: whose sets and names say which, and how many.
        vocabulary: tokens.

    Raises:
        BitcipherError: if a range of so many shapes cannot be spanned.
    """
    wanted = study.shapes
    named = (Shape.from_name(name) for name in wanted.names)
    shapes = {*named, *(shape for name in wanted.sets for shape in SETS[str(name)]())}
    ordered = sorted(shapes, key=lambda shape: (shape.flops_published(vocabulary), shape.name))
    if wanted.largest is not None:
        limit = Shape.from_name(wanted.largest).flops_published(vocabulary)
        ordered = [shape for shape in ordered if shape.flops_published(vocabulary) <= limit]
    if wanted.max_shapes is not None and wanted.max_shapes < len(ordered):
        return select_spanning(ordered, wanted.max_shapes, vocabulary)
    return tuple(ordered)


def pretraining_trials(study: Study, vocabulary: int) -> tuple[PretrainingTrial, ...]:
    """All models, the dearest first: then the last ones to end are short, and no device waits long for them."""
    shapes = select_shapes(study, vocabulary)
    trials = [PretrainingTrial(shape, start) for shape in shapes for start in study.pretraining.inits]
    if study.pretraining.unconstrained:
        trials += [PretrainingTrial(shape, language=UNCONSTRAINED) for shape in shapes]
    return tuple(sorted(trials, key=lambda trial: -trial.shape.flops_published(vocabulary)))


def finetuning_trials(study: Study, pretrained: Sequence[PretrainingTrial]) -> tuple[FinetuningTrial, ...]:
    """What is made of models: tasks, filtered or not, seeds, and twins of the random and constrained ones.

    Args:
        study: whose options say which.
        pretrained: the models that have ended.
    """
    wanted = study.downstream
    if wanted.glue is None:
        return ()
    chosen = {trial.shape for trial in pretrained}
    if wanted.max_models is not None and wanted.max_models < len(chosen):
        chosen = set(select_spanning(chosen, wanted.max_models))
    # A random twin knows no vocabulary, so one kind of examples tells what pre-training is worth.
    baseline_filtered = True in wanted.filtered
    trials = []
    for model in pretrained:
        if model.shape not in chosen:
            continue
        has_baseline = wanted.random_baselines and (model.init, model.language) == ("random", CONSTRAINED)
        for task in wanted.tasks:
            for seed in range(1, wanted.seeds + 1):
                trials += [FinetuningTrial(model.name, task, filtered, False, seed) for filtered in wanted.filtered]
                if has_baseline:
                    trials.append(FinetuningTrial(model.name, task, baseline_filtered, True, seed))
    return tuple(trials)


def make_recipe(
    trial: PretrainingTrial, study: Study, sources: Sequence[str], held_out: Sequence[str], tokenizer: str
) -> Recipe:
    """The run of a pre-training trial.

    Args:
        trial: which model.
        study: whose options say how it is trained.
        sources: the text of its language to train on.
        held_out: the text that curves are measured on.
        tokenizer: path of its tokenizer.json.
    """
    shape, wanted = trial.shape, study.pretraining
    return Recipe(
        text=TextOptions(
            sources=tuple(sources),
            tokenizer=TokenizerOptions(path=tokenizer),
            validation_sources=tuple(held_out),
        ),
        model=ModelOptions(
            architecture="roberta",
            num_hidden_layers=shape.layers,
            hidden_size=shape.hidden,
            num_attention_heads=shape.heads,
            intermediate_size=shape.intermediate,
            max_position_embeddings=wanted.max_position_embeddings,
            dropout=wanted.dropout,
            tie_word_embeddings=False,
            embedding_size=shape.embedding,
        ),
        objective={"name": "masked", "mlm_probability": wanted.mlm_probability, "replacement": "always"},
        embeddings=EmbeddingInitOptions(init=trial.init),
        loop=wanted.loop,
        seed=study.seed,
    )


def make_finetune_options(trial: FinetuningTrial, study: Study, model: str, vocabulary: str) -> FinetuneOptions:
    """The run of a fine-tuning trial, which is looked at after each epoch.

    Args:
        trial: which model and task.
        study: whose options say how it is fine-tuned.
        model: the run of its pre-training.
        vocabulary: the words of the language.
    """
    wanted, loop = study.downstream, study.pretraining.loop
    return FinetuneOptions(
        model=model,
        task=trial.task,
        # Workers have other working directories.
        data=storage.absolute(storage.join(wanted.glue, GLUE[trial.task])),
        num_train_epochs=wanted.num_train_epochs,
        eval_each_epoch=True,
        vocabulary=vocabulary if trial.filtered else None,
        random_init=trial.random_init,
        loop=LoopOptions(
            batch_size=wanted.batch_size,
            learning_rate=wanted.learning_rate,
            warmup_steps=0.05,
            lr_scheduler_type="linear",
            min_lr_ratio=0.0,
            adam_beta2=0.999,
            precision=loop.precision,
            device=loop.device,
        ),
        seed=trial.seed,
    )

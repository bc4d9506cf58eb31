"""Trials of a study: models to pre-train, fine-tuning runs, and the options of each run."""

from collections.abc import Sequence
from dataclasses import dataclass

from bitcipher.files import storage
from training.data.tokenizer_options import TokenizerOptions
from training.loop.options import LoopOptions
from training.models.embeddings.options import EmbeddingInitOptions
from training.models.options import ModelOptions
from training.runs.recipe import Recipe, TextOptions
from training.studies.downscaling.scaling.shape import Shape
from training.studies.downscaling.scaling.shapes import select_spanning
from training.studies.downscaling.sweep.options import LANGUAGES, LARGE_PARAMETERS, SHAPES, Study
from training.tasks.finetuning.options import FinetuneOptions
from training.tasks.finetuning.task_files import glue_folder

CONSTRAINED, UNCONSTRAINED = LANGUAGES


@dataclass(frozen=True)
class PretrainingTrial:
    """Pre-training run of a model of the study."""

    shape: Shape
    init: str = "random"
    language: str = CONSTRAINED

    @property
    def name(self) -> str:
        """Name of the shape, with the init and language if they differ from random and constrained."""
        differs = [self.init] * (self.init != "random") + [self.language] * (self.language != CONSTRAINED)
        return "-".join([self.shape.name, *differs])


@dataclass(frozen=True)
class FinetuningTrial:
    """Fine-tuning run of a pre-trained model or of its random-init baseline."""

    model: str
    """Name of the pre-training trial."""
    task: str
    filtered: bool
    random_init: bool
    seed: int
    step: int | None = None
    """Step of the checkpoint of pre-training; None for the last."""

    @property
    def checkpoint(self) -> str:
        """Name of the checkpoint, such as "256-32-1024-8-8", or "256-32-1024-8-8@1000" if it is not the last."""
        return name_checkpoint(self.model, self.step)

    @property
    def name(self) -> str:
        """Name such as "256-32-1024-8-8/cola-filtered-random-1"."""
        part = "filtered" if self.filtered else "unfiltered"
        return f"{self.checkpoint}/{self.task}-{part}{'-random' * self.random_init}-{self.seed}"


def name_checkpoint(model: str, step: int | None) -> str:
    """Return the name of a checkpoint of a pre-training trial; None for the last step."""
    return model if step is None else f"{model}@{step}"


def checkpoint_steps(study: Study) -> tuple[int, ...]:
    """Return the steps before the last whose checkpoints are fine-tuned."""
    loop = study.pretraining.loop
    nearest = {
        max(1, round(fraction * loop.max_steps / loop.save_steps)) * loop.save_steps
        for fraction in study.downstream.checkpoints
    }
    return tuple(sorted(step for step in nearest if step < loop.max_steps))


def select_shapes(study: Study, vocabulary: int) -> tuple[Shape, ...]:
    """Return the distinct shapes of a study, by increasing FLOPs.

    Args:
        study: study with the sets and names of shapes.
        vocabulary: number of tokens of the vocabulary, from which FLOPs are computed.

    Raises:
        BitcipherError: if the shapes cannot be reduced to the maximum number.
    """
    options, kind = study.shapes, SHAPES[study.pretraining.architecture]
    ordered = sorted(options.of_kind(kind), key=lambda shape: (shape.flops_published(vocabulary), shape.name))
    if options.largest is not None:
        limit = kind.from_name(options.largest).flops_published(vocabulary)
        ordered = [shape for shape in ordered if shape.flops_published(vocabulary) <= limit]
    if options.max_shapes is not None and options.max_shapes < len(ordered):
        return select_spanning(ordered, options.max_shapes, vocabulary)
    return tuple(ordered)


def pretraining_trials(study: Study, vocabulary: int) -> tuple[PretrainingTrial, ...]:
    """Return all models to pre-train, the most expensive first, so that devices idle only briefly at the end."""
    shapes = select_shapes(study, vocabulary)
    trials = [PretrainingTrial(shape, init) for shape in shapes for init in study.pretraining.inits]
    if study.pretraining.unconstrained:
        trials += [PretrainingTrial(shape, language=UNCONSTRAINED) for shape in shapes]
    return tuple(sorted(trials, key=lambda trial: -trial.shape.flops_published(vocabulary)))


def finetuning_trials(study: Study, pretrained: Sequence[PretrainingTrial]) -> tuple[FinetuningTrial, ...]:
    """Return the fine-tuning runs of each model on each task, with filtered and unfiltered examples and all seeds.

    Models with random init on the constrained language also have runs of their random-init baselines, and of their
    checkpoints before the last, if any are chosen.

    Args:
        study: options of the study.
        pretrained: trials of the models to fine-tune.
    """
    options = study.downstream
    if options.glue is None:
        return ()
    shapes = {trial.shape for trial in pretrained}
    if options.max_models is not None and options.max_models < len(shapes):
        shapes = set(select_spanning(shapes, options.max_models))
    # Random-init baselines use one kind of examples only: filtered ones if there are any.
    baseline_filtered = True in options.filtered
    trials = []
    for model in pretrained:
        if model.shape not in shapes:
            continue
        has_baseline = options.random_baselines and (model.init, model.language) == ("random", CONSTRAINED)
        for task in options.tasks:
            for seed in range(1, options.seeds + 1):
                trials += [FinetuningTrial(model.name, task, filtered, False, seed) for filtered in options.filtered]
                if has_baseline:
                    trials.append(FinetuningTrial(model.name, task, baseline_filtered, True, seed))
                if (model.init, model.language) == ("random", CONSTRAINED):
                    trials += [
                        FinetuningTrial(model.name, task, filtered, False, seed, step)
                        for step in checkpoint_steps(study)
                        for filtered in options.filtered
                    ]
    return tuple(trials)


def make_recipe(
    trial: PretrainingTrial, study: Study, sources: Sequence[str], held_out: Sequence[str], tokenizer: str
) -> Recipe:
    """Return the recipe of a pre-training trial.

    Args:
        trial: model to pre-train.
        study: options of the study.
        sources: files of the training split of the trial's language.
        held_out: files of the development split.
        tokenizer: path of the language's tokenizer.json.
    """
    shape, options, loop = trial.shape, study.pretraining, study.pretraining.loop
    is_roberta = options.architecture == "roberta"
    parameters = shape.parameters(not is_roberta, study.tokenizer.vocab_size)
    if options.large_learning_rate is not None and parameters > LARGE_PARAMETERS:
        loop = loop.copy_with(learning_rate=options.large_learning_rate)
    if study.downstream.glue is not None and study.downstream.checkpoints:
        loop = loop.copy_with(save_total_limit=None)
    return Recipe(
        text=TextOptions(
            sources=tuple(sources),
            tokenizer=TokenizerOptions(path=tokenizer),
            validation_sources=tuple(held_out),
        ),
        model=ModelOptions(
            architecture=options.architecture,
            num_hidden_layers=shape.layers,
            hidden_size=shape.hidden,
            num_attention_heads=shape.heads,
            intermediate_size=shape.intermediate,
            max_position_embeddings=options.max_position_embeddings,
            dropout=options.dropout,
            tie_word_embeddings=not is_roberta,
            embedding_size=shape.embedding if is_roberta else None,
        ),
        objective={"name": "masked", "mlm_probability": options.mlm_probability, "replacement": "always"},
        embeddings=EmbeddingInitOptions(init=trial.init),
        loop=loop,
        seed=study.seed,
    )


def make_trial_options(trial: FinetuningTrial, study: Study, model: str, vocabulary: str) -> FinetuneOptions:
    """Return the options of a fine-tuning trial, which is evaluated after each epoch.

    Args:
        trial: model and task.
        study: options of the study.
        model: directory of the pre-training run.
        vocabulary: path of the file with the words of the language.
    """
    options, loop = study.downstream, study.pretraining.loop
    return FinetuneOptions(
        model=model,
        step=trial.step,
        task=trial.task,
        # Workers have other working directories.
        data=storage.absolute(storage.join(options.glue or "", glue_folder(trial.task))),
        num_train_epochs=options.num_train_epochs,
        eval_each_epoch=True,
        vocabulary=vocabulary if trial.filtered else None,
        random_init=trial.random_init,
        loop=LoopOptions(
            batch_size=options.batch_size,
            learning_rate=options.learning_rate,
            warmup_steps=0.05,
            lr_scheduler_type="linear",
            min_lr_ratio=0.0,
            adam_beta2=0.999,
            precision=loop.precision,
            device=loop.device,
        ),
        seed=trial.seed,
    )

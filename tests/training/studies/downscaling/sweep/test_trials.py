"""Trials of a study, and their options."""

import itertools
from pathlib import Path

import pytest

from bitcipher.errors import BitcipherError
from training.studies.downscaling.scaling.shape import Shape
from training.studies.downscaling.scaling.shapes import ANCHOR, set_1, smallest
from training.studies.downscaling.sweep.options import make_study
from training.studies.downscaling.sweep.trials import (
    PretrainingTrial,
    checkpoint_steps,
    finetuning_trials,
    make_recipe,
    make_trial_options,
    pretraining_trials,
    select_shapes,
)

VOCABULARY = 4000


def study_of(*settings, **groups):
    return make_study({"shapes": {"sets": ["smallest"]}, **groups}, "test", settings)


def everything(**downstream):
    return study_of(
        pretraining={"inits": ["random", "cipher"], "unconstrained": True},
        downstream={"glue": "/data/glue", "tasks": ["cola", "stsb"], **downstream},
    )


def test_shapes_are_distinct_and_sorted_by_flops():
    names = [smallest()[0].name, "8-8-16-1-1", "8-8-16-1-1"]
    shapes = select_shapes(study_of(shapes={"sets": ["smallest", 1], "names": names}), VOCABULARY)
    assert set(shapes) == {*set_1(), *smallest(), Shape(8, 8, 16, 1, 1)}
    assert len(shapes) == 20
    costs = [shape.flops_published(VOCABULARY) for shape in shapes]
    assert costs == sorted(costs)


def test_max_shapes_and_largest_limit_shapes():
    every = select_shapes(study_of("shapes.sets=[1, 2, 3]"), VOCABULARY)
    few = select_shapes(study_of("shapes.sets=[1, 2, 3]", "shapes.max_shapes=5"), VOCABULARY)
    assert len(few) == 5
    assert (few[0], few[-1]) == (every[0], every[-1])
    assert select_shapes(study_of("shapes.sets=[1]", "shapes.max_shapes=99"), VOCABULARY) == select_shapes(
        study_of("shapes.sets=[1]"), VOCABULARY
    )
    limit = every[10]
    limited = select_shapes(study_of("shapes.sets=[1, 2, 3]", f"shapes.largest={limit.name}"), VOCABULARY)
    assert limited[: len(every[:11])] == every[:11]
    assert all(each.flops_published(VOCABULARY) <= limit.flops_published(VOCABULARY) for each in limited)


def test_trial_names_are_unique():
    models = pretraining_trials(everything(), VOCABULARY)
    assert len({trial.name for trial in models}) == len(models) == 3 * 3
    shape = smallest()[0].name
    assert {shape, f"{shape}-cipher", f"{shape}-unconstrained"} <= {trial.name for trial in models}
    tuned = finetuning_trials(everything(), models)
    assert len({trial.name for trial in tuned}) == len(set(tuned)) == len(tuned)
    assert f"{shape}/cola-filtered-random-1" in {trial.name for trial in tuned}


def test_most_expensive_models_are_trained_first():
    costs = [trial.shape.flops_published(VOCABULARY) for trial in pretraining_trials(everything(), VOCABULARY)]
    assert costs == sorted(costs, reverse=True)


@pytest.mark.parametrize(
    ("filtered", "of_baselines"),
    [([True, False], {True}), ([True], {True}), ([False], {False}), ([False, True], {True})],
)
def test_only_random_init_constrained_models_have_baselines(filtered, of_baselines):
    study = everything(filtered=filtered, seeds=2)
    models = pretraining_trials(study, VOCABULARY)
    tuned = finetuning_trials(study, models)
    random = [trial for trial in tuned if trial.random_init]
    assert {trial.model for trial in random} == {shape.name for shape in smallest()}
    assert {trial.filtered for trial in random} == of_baselines
    expected = itertools.product((model.name for model in models), ("cola", "stsb"), filtered, (1, 2))
    kinds = {(trial.model, trial.task, trial.filtered, trial.seed) for trial in tuned if not trial.random_init}
    assert kinds == set(expected)
    assert len(tuned) == 9 * 2 * len(filtered) * 2 + 3 * 2 * 2


def test_no_fine_tuning_without_glue_and_no_baselines_if_disabled():
    models = pretraining_trials(study_of(), VOCABULARY)
    assert finetuning_trials(study_of(), models) == ()
    assert not any(trial.random_init for trial in finetuning_trials(everything(random_baselines=False), models))


def test_max_models_selects_among_finished_models():
    study = everything(max_models=2)
    models = pretraining_trials(study, VOCABULARY)
    tuned = {
        trial.model.removesuffix("-cipher").removesuffix("-unconstrained") for trial in finetuning_trials(study, models)
    }
    assert tuned == {smallest()[0].name, smallest()[2].name}
    ended = [trial for trial in models if trial.shape != smallest()[0]]
    assert {trial.model[:9] for trial in finetuning_trials(study, ended)} == {
        shape.name[:9] for shape in smallest()[1:]
    }


def test_recipe_has_sizes_of_shape_and_untied_head():
    study = study_of("pretraining.dropout=0.2", "pretraining.max_position_embeddings=64", "seed=4")
    shape = Shape(32, 64, 256, 3, 4)
    recipe = make_recipe(PretrainingTrial(shape, "cipher"), study, ["a.jsonl"], ["b.jsonl"], "t.json")
    model = recipe.model
    assert (model.architecture, model.embedding_size, model.hidden_size, model.intermediate_size) == (
        "roberta",
        32,
        64,
        256,
    )
    assert (
        model.num_hidden_layers,
        model.num_attention_heads,
        model.max_position_embeddings,
        model.dropout,
        model.tie_word_embeddings,
    ) == (3, 4, 64, 0.2, False)
    assert recipe.embeddings.init == "cipher"
    assert (recipe.text.sources, recipe.text.validation_sources, recipe.text.tokenizer.path) == (
        ("a.jsonl",),
        ("b.jsonl",),
        "t.json",
    )
    assert recipe.objective["replacement"] == "always"
    assert recipe.seed == 4


def test_checkpoints_before_the_last_are_kept_and_fine_tuned():
    settings = ("downstream.glue=glue", "downstream.tasks=[cola]", "downstream.seeds=1", "shapes.sets=[smallest]")
    loop = ("pretraining.loop.max_steps=1000", "pretraining.loop.save_steps=100")
    study = study_of(*settings, *loop, "downstream.checkpoints=[0.02, 0.24, 0.26, 0.99]")
    assert checkpoint_steps(study) == (100, 200, 300)  # the last checkpoint is fine-tuned anyway
    models = pretraining_trials(study, VOCABULARY)
    trials = [trial for trial in finetuning_trials(study, models) if trial.step is not None]
    assert len(trials) == len(models) * 3 * 2  # filtered and unfiltered, without random-init baselines
    name = models[-1].shape.name
    assert f"{name}@200/cola-filtered-1" in {trial.name for trial in trials}
    assert make_recipe(models[0], study, ["a.jsonl"], ["b.jsonl"], "t.json").loop.save_total_limit is None
    options = make_trial_options(trials[0], study, "models/m", "words.txt")
    assert (options.model, options.step) == ("models/m", trials[0].step)
    last = next(trial for trial in finetuning_trials(study, models) if trial.step is None)
    assert make_trial_options(last, study, "models/m", "words.txt").step is None
    without = study_of(*settings, *loop)
    assert make_recipe(models[0], without, ["a.jsonl"], ["b.jsonl"], "t.json").loop.save_total_limit == 2
    with pytest.raises(BitcipherError, match=r"downstream\.checkpoints"):
        study_of("downstream.checkpoints=[1.0]")


def test_large_models_have_a_learning_rate_of_their_own():
    study = study_of("pretraining.large_learning_rate=1.0e-4", "pretraining.loop.learning_rate=5.0e-4")
    shapes = Shape(64, 64, 256, 2, 2), Shape(512, 512, 2048, 8, 8)
    assert [shape.parameters(vocabulary=study.tokenizer.vocab_size) > 18e6 for shape in shapes] == [False, True]
    recipes = [make_recipe(PretrainingTrial(shape), study, ["a.jsonl"], ["b.jsonl"], "t.json") for shape in shapes]
    assert [recipe.loop.learning_rate for recipe in recipes] == [5e-4, 1e-4]


def test_recipe_of_a_modernbert_has_tied_embeddings_of_the_hidden_size():
    study = study_of("pretraining.architecture=modernbert", "shapes.sets=[smallest]")
    model = make_recipe(pretraining_trials(study, VOCABULARY)[0], study, ["a.jsonl"], ["b.jsonl"], "t.json").model
    assert (model.architecture, model.embedding_size, model.hidden_size) == ("modernbert", None, 32)
    assert model.tie_word_embeddings


def test_fine_tuning_options_evaluate_each_epoch_and_have_absolute_paths(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    study = study_of("downstream.glue=glue", "downstream.tasks=[stsb]", "pretraining.loop.device=cpu")
    model = PretrainingTrial(ANCHOR)
    for trial in finetuning_trials(study, [model]):
        options = make_trial_options(trial, study, "/models/anchor", "/language/vocabulary.txt")
        assert options.data == str(Path(tmp_path, "glue", "STS-B"))
        assert (options.eval_each_epoch, options.num_train_epochs, options.seed) == (True, 5, trial.seed)
        assert options.vocabulary == ("/language/vocabulary.txt" if trial.filtered else None)
        assert options.random_init == trial.random_init
        assert (options.loop.batch_size, options.loop.learning_rate, options.loop.device) == (32, 1e-4, "cpu")
        assert options.loop_for(100).eval_steps == 4

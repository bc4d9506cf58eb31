"""Options of a study: the paper's values as defaults, and errors."""

import re
from pathlib import Path

import pytest
import yaml

from bitcipher.errors import BitcipherError
from training.studies.downscaling.scaling.shape import SEQUENCES
from training.studies.downscaling.sweep import options
from training.studies.downscaling.sweep.options import LOOP_DEFAULTS, SETS, Study, find_study, make_study, read_study
from training.studies.downscaling.sweep.trials import make_recipe, pretraining_trials, select_shapes
from training.tasks.finetuning.task_files import GLUE, glue_folder

SHIPPED = sorted(path.stem for path in (Path(options.__file__).parent / "recipes").glob("*.yaml"))


def mistake(values, *settings):
    with pytest.raises(BitcipherError) as error:
        make_study(values, "mine.yaml", settings)
    message = str(error.value)
    assert "\n" not in message
    return message


def test_shipped_studies():
    assert {"downscaling", "downscaling-small"} <= set(SHIPPED)


@pytest.mark.parametrize("name", SHIPPED)
def test_shipped_study_is_valid(name):
    study = read_study(find_study(name), ["sources=[corpus]"])
    assert study.sources == ("corpus",)
    trials = pretraining_trials(study, study.tokenizer.vocab_size)
    assert len(trials) >= 8
    for trial in trials:
        recipe = make_recipe(trial, study, ["train.jsonl"], ["development.jsonl"], "tokenizer.json")
        assert recipe.loop == study.pretraining.loop


def test_downscaling_study_has_values_of_paper():
    study = read_study(find_study("downscaling"))
    loop = study.pretraining.loop
    assert len(select_shapes(study, 19_010)) == 65
    assert (loop.max_steps, loop.batch_size, loop.max_steps * loop.batch_size) == (35_475, 256, SEQUENCES)
    assert (loop.lr_scheduler_type, loop.warmup_steps, loop.adam_beta1, loop.adam_beta2) == (
        "inverse_sqrt",
        0.05,
        0.9,
        0.95,
    )
    recipe = make_recipe(pretraining_trials(study, 19_010)[0], study, ["a"], ["b"], "c")
    assert recipe.objective == {"name": "masked", "mlm_probability": 0.15, "replacement": "always"}
    assert recipe.model.max_position_embeddings == 128
    assert (study.language["span"], study.language["stride"]) == (110, 30)
    assert (study.tokenizer.kind, study.tokenizer.vocab_size, study.seed) == ("bpe", 19_000, 0)
    downstream = study.downstream
    assert (downstream.seeds, downstream.num_train_epochs, set(downstream.filtered)) == (3, 5, {True, False})


def test_downscaling_study_equals_defaults():
    assert read_study(find_study("downscaling")) == make_study(
        {"language": {"level": "both", "span": 110, "stride": 30, "held_out_share": 0.011}}, "test"
    )


def test_missing_options_get_values_of_paper():
    study = make_study({"pretraining": {"loop": {"max_steps": 7}}, "tokenizer": {"lowercase": True}}, "test")
    assert study.pretraining.loop.max_steps == 7
    assert {name: getattr(study.pretraining.loop, name) for name in LOOP_DEFAULTS} == {**LOOP_DEFAULTS, "max_steps": 7}
    assert (study.tokenizer.vocab_size, study.tokenizer.lowercase) == (19_000, True)
    assert make_study({}, "test") == Study()


def test_shapes_of_a_modernbert_have_embeddings_of_the_hidden_size():
    settings = ("pretraining.architecture=modernbert", "shapes.sets=[]", "shapes.names=[32-32-64-1-1, 16-32-64-1-1]")
    assert "A ModernBERT has embeddings of its hidden size, 32, but 16-32-64-1-1 has 16" in mistake({}, *settings)


def test_settings_do_not_change_given_values():
    values = {"shapes": {"sets": [1]}}
    study = make_study(
        values, "test", ["shapes.sets=[2, smallest]", "pretraining.loop.batch_size=8", "downstream.max_models=3"]
    )
    assert values == {"shapes": {"sets": [1]}}
    assert study.shapes.sets == (2, "smallest")
    assert (study.pretraining.loop.batch_size, study.pretraining.loop.max_steps) == (8, 35_475)
    assert study.downstream.max_models == 3


@pytest.mark.parametrize("names", [[1, 2, 3], ["1", "2", "3"]])
def test_sets_are_numbers_or_names(names):
    study = make_study({"shapes": {"sets": names}}, "test")
    assert set(select_shapes(study, 1000)) == {shape for name in "123" for shape in SETS[name]()}


@pytest.mark.parametrize(
    ("setting", "fact"),
    [
        ("shapes.sets=[4]", "`shapes.sets`"),
        ("shapes.sets=[]", "set `shapes.sets` or `shapes.names`"),
        ("shapes.names=[8-8]", "'8-8' is not a shape"),
        ("shapes.names=[8-8-16-1-3]", "3 heads"),
        ("shapes.largest=big", "'big' is not a shape"),
        ("shapes.max_shapes=1", "`shapes.max_shapes` must be at least 2"),
        ("pretraining.inits=[warm]", "`pretraining.inits.0` must be random or cipher"),
        ("pretraining.inits=[]", "`pretraining.inits`"),
        ("pretraining.inits=[random, random]", "`pretraining.inits` must not repeat a value"),
        ("pretraining.loop.max_steps=0", "`pretraining.loop.max_steps` must be at least 1, got 0"),
        ("pretraining.loop.step=5", "no option `pretraining.loop.step`"),
        ("pretraining=fast", "`pretraining` must be a mapping"),
        ("downstream.tasks=[squad]", "`downstream.tasks` must be chosen from cola"),
        ("downstream.tasks=[cola, cola]", "`downstream.tasks` must not repeat a value"),
        ("downstream.filtered=[]", "`downstream.filtered`"),
        ("downstream.seeds=0", "`downstream.seeds` must be at least 1"),
        ("downstream.max_models=1", "`downstream.max_models` must be at least 2"),
        ("tokenizer.kind=bytes", "`tokenizer.kind` must be bpe"),
        ("sources=corpus", "`sources` must be a list"),
        ("corpus=[x]", "no option `corpus`"),
    ],
)
def test_invalid_study_raises(setting, fact):
    message = mistake({}, setting)
    assert "mine.yaml" in message
    assert fact in message


def test_unconstrained_models_without_unconstrained_text_raise():
    values = {"language": {"unconstrained": False}, "pretraining": {"unconstrained": True}}
    assert "`language.unconstrained`" in mistake(values)


def test_find_study_accepts_names_and_paths(tmp_path):
    assert find_study("folder/mine.yaml") == "folder/mine.yaml"
    with pytest.raises(BitcipherError, match="no study 'upscaling'"):
        find_study("upscaling")
    (tmp_path / "mine.yaml").write_text(yaml.safe_dump({"downstream": {"seeds": 2}}))
    assert read_study(str(tmp_path / "mine.yaml")).downstream.seeds == 2


def test_glue_folders_have_published_names():
    assert glue_folder("sst2") == "SST-2"
    assert glue_folder("mnli") == glue_folder("mnli-mm") == "MNLI"
    assert set(Study().downstream.tasks) <= set(GLUE)


def test_example_study_of_readme_is_valid():
    readme = (Path(options.__file__).parent / "README.md").read_text()
    (values,) = map(yaml.safe_load, re.findall(r"```yaml\n(.*?)```", readme, re.DOTALL))
    study = make_study(values, "README.md")
    assert len(pretraining_trials(study, 3000)) == 4 * 3
    # Every group of the example differs from the defaults.
    assert [name for name in values if getattr(study, name) != getattr(Study(), name)] == [
        *("sources", "language", "tokenizer", "shapes", "pretraining", "downstream")
    ]

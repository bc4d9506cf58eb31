"""What a study is made of: the paper's where nothing is said, and a sentence for what cannot be."""

import re
from pathlib import Path

import pytest
import yaml

import training.sweep
from bitcipher.errors import BitcipherError
from training.finetune import GLUE
from training.scaling import SEQUENCES
from training.sweep.options import LOOP_DEFAULTS, SETS, Study, find_study, make_study, read_study
from training.sweep.trials import make_recipe, pretraining_trials, select_shapes

SHIPPED = sorted(path.stem for path in (Path(training.sweep.__file__).parent / "recipes").glob("*.yaml"))


def mistake(values, *settings):
    with pytest.raises(BitcipherError) as error:
        make_study(values, "mine.yaml", settings)
    said = str(error.value)
    assert "\n" not in said
    return said


def test_studies_are_shipped():
    assert {"downscaling", "downscaling-small"} <= set(SHIPPED)


@pytest.mark.parametrize("name", SHIPPED)
def test_a_shipped_study_reads_and_has_runs(name):
    study = read_study(find_study(name), ["sources=[corpus]"])
    assert study.sources == ("corpus",)
    trials = pretraining_trials(study, study.tokenizer.vocab_size)
    assert len(trials) >= 8
    for trial in trials:
        recipe = make_recipe(trial, study, ["train.jsonl"], ["development.jsonl"], "tokenizer.json")
        assert recipe.loop == study.pretraining.loop


def test_the_papers_study_is_as_the_paper_tells():
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


def test_the_papers_study_says_what_is_the_default():
    assert read_study(find_study("downscaling")) == make_study(
        {"language": {"level": "both", "span": 110, "stride": 30, "held_out_share": 0.011}}, "test"
    )


def test_what_a_group_leaves_out_is_the_papers_and_not_that_of_other_runs():
    study = make_study({"pretraining": {"loop": {"max_steps": 7}}, "tokenizer": {"lowercase": True}}, "test")
    assert study.pretraining.loop.max_steps == 7
    assert {name: getattr(study.pretraining.loop, name) for name in LOOP_DEFAULTS} == {**LOOP_DEFAULTS, "max_steps": 7}
    assert (study.tokenizer.vocab_size, study.tokenizer.lowercase) == (19_000, True)
    assert make_study({}, "test") == Study()


def test_settings_change_a_study_and_not_the_values_that_it_was_made_of():
    values = {"shapes": {"sets": [1]}}
    study = make_study(
        values, "test", ["shapes.sets=[2, smallest]", "pretraining.loop.batch_size=8", "downstream.max_models=3"]
    )
    assert values == {"shapes": {"sets": [1]}}
    assert study.shapes.sets == (2, "smallest")
    assert (study.pretraining.loop.batch_size, study.pretraining.loop.max_steps) == (8, 35_475)
    assert study.downstream.max_models == 3


@pytest.mark.parametrize("names", [[1, 2, 3], ["1", "2", "3"]])
def test_sets_are_numbers_or_their_names(names):
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
        ("downstream.tasks=[mnli]", "`downstream.tasks` must be chosen from cola"),
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


def test_models_of_all_words_need_the_text_of_all_words():
    values = {"language": {"unconstrained": False}, "pretraining": {"unconstrained": True}}
    assert "`language.unconstrained`" in mistake(values)


def test_a_name_is_that_of_a_shipped_study_or_of_a_file(tmp_path):
    assert find_study("folder/mine.yaml") == "folder/mine.yaml"
    with pytest.raises(BitcipherError, match="no study 'upscaling'"):
        find_study("upscaling")
    (tmp_path / "mine.yaml").write_text(yaml.safe_dump({"downstream": {"seeds": 2}}))
    assert read_study(str(tmp_path / "mine.yaml")).downstream.seeds == 2


def test_folders_of_glue_are_the_published_ones():
    assert GLUE["sst2"] == "SST-2"
    assert set(Study().downstream.tasks) <= set(GLUE)


def test_the_study_that_the_page_explains_is_one():
    page = (Path(training.sweep.__file__).parent / "README.md").read_text()
    (values,) = map(yaml.safe_load, re.findall(r"```yaml\n(.*?)```", page, re.DOTALL))
    study = make_study(values, "README.md")
    assert len(pretraining_trials(study, 3000)) == 4 * 3
    # Nothing in it is said for nothing.
    assert [name for name in values if getattr(study, name) != getattr(Study(), name)] == [
        *("sources", "language", "tokenizer", "shapes", "pretraining", "downstream")
    ]

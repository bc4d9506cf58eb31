"""What a study is made of: the paper's where nothing is said, and a sentence for what cannot be."""

import re
from pathlib import Path

import pytest
import yaml

import training.sweep
from bitcipher.errors import BitcipherError
from training.finetune import GLUE
from training.scaling import SEQUENCES
from training.sweep.options import LOOP, SETS, Study, find_study, make_study, read_study
from training.sweep.trials import pretraining_trials, recipe_of, shapes_of

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
    trials = pretraining_trials(study, study.tokenizer.size)
    assert len(trials) >= 8
    for trial in trials:
        recipe = recipe_of(trial, study, ["train.jsonl"], ["development.jsonl"], "tokenizer.json")
        assert recipe.loop == study.pretraining.loop


def test_the_papers_study_is_as_the_paper_tells():
    study = read_study(find_study("downscaling"))
    loop = study.pretraining.loop
    assert len(shapes_of(study, 19_010)) == 65
    assert (loop.steps, loop.batch, loop.steps * loop.batch) == (35_475, 256, SEQUENCES)
    assert (loop.schedule, loop.warmup, loop.beta1, loop.beta2) == ("inverse-square-root", 0.05, 0.9, 0.95)
    recipe = recipe_of(pretraining_trials(study, 19_010)[0], study, ["a"], ["b"], "c")
    assert recipe.objective == {"name": "masked", "share": 0.15, "replacement": "always"}
    assert recipe.model.positions == 128
    assert (study.language["span"], study.language["stride"]) == (110, 30)
    assert (study.tokenizer.kind, study.tokenizer.size, study.seed) == ("bpe", 19_000, 0)
    downstream = study.downstream
    assert (downstream.seeds, downstream.epochs, set(downstream.filtered)) == (3, 5, {True, False})


def test_the_papers_study_says_what_is_the_default():
    assert read_study(find_study("downscaling")) == make_study(
        {"language": {"level": "both", "span": 110, "stride": 30, "held_out_share": 0.011}}, "test"
    )


def test_what_a_group_leaves_out_is_the_papers_and_not_that_of_other_runs():
    study = make_study({"pretraining": {"loop": {"steps": 7}}, "tokenizer": {"lowercase": True}}, "test")
    assert study.pretraining.loop.steps == 7
    assert {name: getattr(study.pretraining.loop, name) for name in LOOP} == {**LOOP, "steps": 7}
    assert (study.tokenizer.size, study.tokenizer.lowercase) == (19_000, True)
    assert make_study({}, "test") == Study()


def test_settings_change_a_study_and_not_the_values_that_it_was_made_of():
    values = {"shapes": {"sets": [1]}}
    study = make_study(values, "test", ["shapes.sets=[2, smallest]", "pretraining.loop.batch=8", "downstream.most=3"])
    assert values == {"shapes": {"sets": [1]}}
    assert study.shapes.sets == (2, "smallest")
    assert (study.pretraining.loop.batch, study.pretraining.loop.steps) == (8, 35_475)
    assert study.downstream.most == 3


@pytest.mark.parametrize("names", [[1, 2, 3], ["1", "2", "3"]])
def test_sets_are_numbers_or_their_names(names):
    study = make_study({"shapes": {"sets": names}}, "test")
    assert set(shapes_of(study, 1000)) == {shape for name in "123" for shape in SETS[name]()}


@pytest.mark.parametrize(
    ("setting", "said"),
    [
        ("shapes.sets=[4]", "There is no set of shapes 4: choose 1, 2, 3, smallest, larger."),
        ("shapes.sets=[]", "A study needs shapes: name sets, or shapes."),
        ("shapes.names=[8-8]", "'8-8' is not a shape: give embedding, hidden, intermediate, layers and heads"),
        ("shapes.names=[8-8-16-1-3]", "A hidden size of 8 cannot be shared out to 3 heads"),
        ("shapes.largest=big", "'big' is not a shape"),
        ("shapes.most=1", "A range of sizes takes 2 shapes or more: shapes.most must not be 1."),
        ("pretraining.starts=[warm]", "A model starts cold or cipher, not 'warm'."),
        ("pretraining.starts=[]", "A model starts cold or cipher, not from nothing."),
        ("pretraining.starts=[cold, cold]", "pretraining.starts names something twice: cold, cold."),
        ("pretraining.loop.steps=0", "steps must be at least 1, not 0."),
        ("pretraining.loop.step=5", "mine.yaml has an option pretraining.loop.step that does not exist; there are "),
        ("pretraining.loop=fast", "mine.yaml gives pretraining.loop as 'fast'"),
        ("pretraining=fast", "mine.yaml gives pretraining as 'fast'"),
        ("downstream.tasks=[mnli]", "There is no task 'mnli' of GLUE: choose cola, sst2, mrpc, stsb, qnli, rte, wnli."),
        ("downstream.tasks=[cola, cola]", "downstream.tasks names something twice: cola, cola."),
        ("downstream.filtered=[]", "give downstream.filtered as [true], [false] or [true, false]."),
        ("downstream.seeds=0", "There must be 1 seed or more, not 0."),
        ("downstream.most=1", "A range of sizes takes 2 shapes or more: downstream.most must not be 1."),
        ("tokenizer.kind=bytes", "There is no tokenizer of kind 'bytes'"),
        ("sources=corpus", "mine.yaml gives sources as 'corpus': a list is wanted, such as [corpus]."),
        ("corpus=[x]", "mine.yaml has an option corpus that does not exist; there are choice, downstream, format"),
    ],
)
def test_what_cannot_be_is_told_in_a_sentence(setting, said):
    assert said in mistake({}, setting)


def test_models_of_all_words_need_the_text_of_all_words():
    values = {"language": {"unconstrained": False}, "pretraining": {"unconstrained": True}}
    assert "leave out language.unconstrained" in mistake(values)


def test_a_name_is_that_of_a_shipped_study_or_of_a_file(tmp_path):
    assert find_study("folder/mine.yaml") == "folder/mine.yaml"
    with pytest.raises(BitcipherError) as error:
        find_study("upscaling")
    assert str(error.value) == (
        f"There is no study 'upscaling': choose {', '.join(SHIPPED)}, or give the path of a YAML file."
    )
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

"""Recipes from YAML and settings, and what is said of those that cannot be."""

from dataclasses import replace
from pathlib import Path

import pytest
import yaml
from hypothesis import example, given
from hypothesis import strategies as st

import training
from bitcipher.errors import BitcipherError
from training.objectives import MaskedLM, make_objective
from training.recipe import Recipe, find_recipe, make_recipe, read_recipe

SHIPPED = sorted(path.stem for path in (Path(training.__file__).parent / "recipes").glob("*.yaml"))


@pytest.fixture
def recipe_file(tmp_path):
    path = tmp_path / "recipe.yaml"
    path.write_text("model: {architecture: gpt2}\nobjective: {name: causal}\nloop: {steps: 5}\n")
    return str(path)


def test_recipes_are_shipped():
    assert {"babylm-10m", "figure-4-cold", "figure-4-near", "figure-5-t5-cipher"} <= set(SHIPPED)


@pytest.mark.parametrize("name", SHIPPED)
def test_a_shipped_recipe_reads(name):
    recipe = read_recipe(find_recipe(name), ["text.sources=[corpus]"])
    assert recipe.text.sources == ("corpus",)
    assert recipe.embeddings.start == ("cipher" if name.endswith(("near", "wide", "best", "cipher", "10m")) else "cold")
    assert make_recipe(yaml.safe_load(recipe.to_yaml()), "test") == recipe


def test_recipes_of_figure_4_differ_in_their_start_alone():
    cold, *warm = (read_recipe(find_recipe(f"figure-4-{name}")) for name in ("cold", "near", "wide", "best"))
    for recipe in warm:
        assert replace(recipe, embeddings=cold.embeddings) == cold


def test_a_name_is_that_of_a_shipped_recipe_or_of_a_file():
    assert Path(find_recipe("figure-4-cold")).exists()
    for name in ("mine.yaml", "folder/mine", "s3://bucket/mine.yml"):
        assert find_recipe(name) == name
    with pytest.raises(BitcipherError) as error:
        find_recipe("figure-6")
    assert str(error.value) == (
        f"There is no recipe 'figure-6': choose {', '.join(SHIPPED)}, or give the path of a YAML file."
    )


@pytest.mark.parametrize(
    ("setting", "group", "name", "value"),
    [
        ("loop.steps=100", "loop", "steps", 100),
        ("loop.learning_rate=1e-3", "loop", "learning_rate", 0.001),  # which YAML takes for a text
        ("loop.learning_rate=2.5E-4", "loop", "learning_rate", 0.00025),
        ("loop.clip=2", "loop", "clip", 2.0),
        ("loop.compile=true", "loop", "compile", True),
        ("loop.micro_batch=null", "loop", "micro_batch", None),
        ("text.sources=[a, 'b c', s3://bucket/d]", "text", "sources", ("a", "b c", "s3://bucket/d")),
        ("text.sources=[a=b.txt]", "text", "sources", ("a=b.txt",)),
        ("text.field=the text", "text", "field", "the text"),
        ("text.field='3'", "text", "field", "3"),
    ],
)
def test_settings_change_options(recipe_file, setting, group, name, value):
    recipe = read_recipe(recipe_file, ["loop.batch=64", setting])
    assert getattr(getattr(recipe, group), name) == value
    assert type(getattr(getattr(recipe, group), name)) is type(value)


def test_settings_reach_every_depth_and_the_last_one_counts(recipe_file):
    settings = ["seed=3", "text.tokenizer.size=500", "embeddings.start=cipher", "embeddings.build.bits=9", "seed=4"]
    recipe = read_recipe(recipe_file, settings)
    assert (recipe.seed, recipe.text.tokenizer.size, recipe.embeddings.build) == (4, 500, {"bits": 9})
    recipe = read_recipe(recipe_file, ["embeddings={start: cipher, build: {bits: 9}}", "embeddings.build.window=2"])
    assert recipe.embeddings.build == {"bits": 9, "window": 2}
    assert recipe.loop.steps == 5


@pytest.mark.parametrize(
    ("setting", "sentence"),
    [
        ("loop.steps", "A setting is NAME=VALUE, such as loop.steps=100, not 'loop.steps'"),
        ("=3", "A setting is NAME=VALUE"),
        ("", "A setting is NAME=VALUE"),
        ("seed.more=3", "gives seed as {'more': 3}"),
        ("text.field=3", "gives text.field as 3"),
        ("text.field=a: b", "gives text.field as {'a': 'b'}"),
        ("loop.steps.more=3", "steps of the setting 'loop.steps.more=3' is no group of options"),
        ("loop.steps=[", "The value of the setting 'loop.steps=\\[' is not YAML"),
        ("loop.steps=", "gives loop.steps as None"),
        ("loop.steps=many", "gives loop.steps as 'many': Input should be a valid integer"),
        ("loop.steps=1.5", "gives loop.steps as 1.5: Input should be a valid integer"),
        ("loop.steps=0", "steps must be at least 1, not 0"),
        ("loop.learning_rate=fast", "gives loop.learning_rate as 'fast'"),
        ("loop.compile=perhaps", "gives loop.compile as 'perhaps'"),
        ("loop=5", "gives loop as 5; it takes `name: value` lines"),
        ("text.sources=[1, 2]", "gives text.sources.0 as 1"),
        ("text.tokenizer.path=[a]", "gives text.tokenizer.path as"),
        ("text.validation_share=1", "validation_share is a share between 0 and 1, not 1"),
        ("objective=causal", "gives objective as 'causal'"),
        ("objective={}", "The objective of a recipe needs a name"),
        ("objective.name=[causal]", "The objective of a recipe needs a name"),
        ("objective.name=electra", "There is no objective 'electra'"),
        ("objective.share=0.5", "The objective causal has no option 'share': it has none"),
        ("objective={name: masked, share: much}", "The objective masked gives share as 'much'"),
        ("objective.name=masked", "MaskedLM trains bert or roberta, not gpt2"),
        ("embeddings.vectors=books", "vectors and build are of a cipher start"),
    ],
)
def test_a_setting_that_cannot_be_is_a_sentence(recipe_file, setting, sentence):
    with pytest.raises(BitcipherError, match=sentence) as error:
        read_recipe(recipe_file, [setting])
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("setting", "unknown", "known"),
    [
        ("loops=3", "loops", "embeddings, loop, model, objective, seed, text"),
        ("loop.step=3", "loop.step", "steps"),
        ("text.tokenizer.sizes=3", "text.tokenizer.sizes", "kind, lowercase, path, sentinels, size"),
        ("text.tokeniser.size=3", "text.tokeniser", "tokenizer"),
    ],
)
def test_unknown_options_are_named_with_those_that_exist(recipe_file, setting, unknown, known):
    with pytest.raises(BitcipherError) as error:
        read_recipe(recipe_file, [setting])
    told, _, offered = str(error.value).partition("; there are ")
    assert told == f"{recipe_file} has an option {unknown} that does not exist"
    assert known in offered


def test_objectives_take_numbers_that_yaml_reads_as_text(recipe_file):
    recipe = read_recipe(recipe_file, ["model.architecture=bert", "objective={name: masked, share: 2e-1}"])
    assert make_objective(**recipe.objective) == MaskedLM(0.2)


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ("", "must hold options as `name: value` lines"),
        ("- a\n- b\n", "must hold options as `name: value` lines"),
        ("loop: [", "is not YAML"),
        ("1: 2\n", "has an option 1 that does not exist"),
        ("!!python/object/apply:os.system ['true']\n", "is not YAML"),
    ],
)
def test_a_file_that_is_no_recipe_is_a_sentence(tmp_path, content, sentence):
    path = tmp_path / "recipe.yaml"
    path.write_text(content)
    with pytest.raises(BitcipherError, match=sentence) as error:
        read_recipe(str(path))
    assert str(path) in str(error.value)
    with pytest.raises(BitcipherError, match="missing"):
        read_recipe(str(tmp_path / "missing.yaml"))


RECIPES = st.builds(
    lambda sources, steps, rate, share, seed: {
        "text": {"sources": sources, "field": "a: b"},
        "model": {"architecture": "bert"},
        "objective": {"name": "masked", "share": share},
        "loop": {"steps": steps, "learning_rate": rate},
        "seed": seed,
    },
    st.lists(st.text(st.characters(exclude_categories=["Cs"]), min_size=1)),
    st.integers(1, 10**12),
    st.floats(1e-12, 10),
    st.floats(1e-9, 0.999),
    st.integers(-(2**62), 2**62),
)


@given(RECIPES)
@example({"text": {"sources": ["\x85", "مدونة", "1e-3", "null"]}})  # U+0085 ends a line in YAML
def test_a_written_recipe_reads_as_the_same(values):
    recipe = make_recipe(values, "test")
    assert make_recipe(yaml.safe_load(recipe.to_yaml()), "test") == recipe


def test_every_option_is_written():
    written = yaml.safe_load(Recipe().to_yaml())
    assert written["model"]["checkpoint"] is None
    assert {"text", "model", "objective", "embeddings", "loop", "seed"} == set(written)
    assert written["text"]["tokenizer"]["size"] == 8000

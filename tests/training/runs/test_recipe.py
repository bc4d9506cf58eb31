"""Recipes from YAML and settings, and their errors."""

from pathlib import Path

import pytest
import yaml
from hypothesis import example, given
from hypothesis import strategies as st

import training
from bitcipher.errors import BitcipherError
from training.objectives.masked import MaskedLM
from training.runs.recipe import Recipe, find_recipe, read_recipe
from training.runs.study_declarations import recipe_folders

FOLDERS = [Path(training.__file__).parent / "runs" / "recipes", *recipe_folders()]
SHIPPED = sorted(path.stem for folder in FOLDERS for path in folder.glob("*.yaml"))


@pytest.fixture
def recipe_file(tmp_path):
    path = tmp_path / "recipe.yaml"
    path.write_text("model: {architecture: gpt2}\nobjective: {name: causal}\nloop: {max_steps: 5}\n")
    return str(path)


def test_shipped_recipes():
    assert {"babylm-10m", "figure-4-random", "figure-4-near", "figure-5-t5-cipher"} <= set(SHIPPED)


@pytest.mark.parametrize("name", SHIPPED)
def test_shipped_recipe_is_valid(name):
    recipe = read_recipe(find_recipe(name), ["text.sources=[corpus]"])
    assert recipe.text.sources == ("corpus",)
    assert recipe.embeddings.init == (
        "cipher" if name.endswith(("near", "wide", "best", "cipher", "10m", "next-sentence")) else "random"
    )
    assert Recipe.parse(yaml.safe_load(recipe.to_yaml()), "test") == recipe


def test_figure_4_recipes_differ_in_embeddings_only():
    random, *cipher = (read_recipe(find_recipe(f"figure-4-{name}")) for name in ("random", "near", "wide", "best"))
    for recipe in cipher:
        assert recipe.copy_with(embeddings=random.embeddings) == random


def test_find_recipe():
    assert Path(find_recipe("figure-4-random")).exists()
    for name in ("mine.yaml", "folder/mine", "s3://bucket/mine.yml"):
        assert find_recipe(name) == name
    with pytest.raises(BitcipherError, match="no recipe 'figure-6'; choose from babylm-10m"):
        find_recipe("figure-6")


@pytest.mark.parametrize(
    ("setting", "group", "name", "value"),
    [
        ("loop.max_steps=100", "loop", "max_steps", 100),
        ("loop.learning_rate=1e-3", "loop", "learning_rate", 0.001),  # a string in YAML 1.1
        ("loop.learning_rate=2.5E-4", "loop", "learning_rate", 0.00025),
        ("loop.max_grad_norm=2", "loop", "max_grad_norm", 2.0),
        ("loop.compile=true", "loop", "compile", True),
        ("loop.micro_batch_size=null", "loop", "micro_batch_size", None),
        ("text.sources=[a, 'b c', s3://bucket/d]", "text", "sources", ("a", "b c", "s3://bucket/d")),
        ("text.sources=[a=b.txt]", "text", "sources", ("a=b.txt",)),
        ("text.field=the text", "text", "field", "the text"),
        ("text.field='3'", "text", "field", "3"),
    ],
)
def test_settings_change_options(recipe_file, setting, group, name, value):
    recipe = read_recipe(recipe_file, ["loop.batch_size=64", setting])
    assert getattr(getattr(recipe, group), name) == value
    assert type(getattr(getattr(recipe, group), name)) is type(value)


def test_nested_and_repeated_settings(recipe_file):
    settings = [
        "seed=3",
        "text.tokenizer.vocab_size=500",
        "embeddings.init=cipher",
        "embeddings.build.bits=9",
        "seed=4",
    ]
    recipe = read_recipe(recipe_file, settings)
    assert (recipe.seed, recipe.text.tokenizer.vocab_size, recipe.embeddings.build) == (4, 500, {"bits": 9})
    recipe = read_recipe(recipe_file, ["embeddings={init: cipher, build: {bits: 9}}", "embeddings.build.window=2"])
    assert recipe.embeddings.build == {"bits": 9, "window": 2}
    assert recipe.loop.max_steps == 5


def test_unknown_option_of_a_setting_is_not_blamed_on_the_file(recipe_file):
    with pytest.raises(BitcipherError) as error:
        read_recipe(recipe_file, ["seed=4", "nosuch.steps=4"])
    assert str(error.value).startswith(f"{recipe_file} with --set seed=4 nosuch.steps=4: there is no option `nosuch`")


@pytest.mark.parametrize(
    ("setting", "fact"),
    [
        ("loop.max_steps", "must be NAME=VALUE"),
        ("=3", "must be NAME=VALUE"),
        ("seed.more=3", "`seed` must be an integer"),
        ("text.field=3", "`text.field` must be a string"),
        ("loop.max_steps.more=3", "not a group of options"),
        ("loop.max_steps=[", "not valid YAML"),
        ("loop.max_steps=" + "[" * 5_000, "not valid YAML"),
        ("loop.max_steps=" + "9" * 5_000, "not valid YAML"),
        ("text.sources=[&a x, *a]", "not valid YAML"),
        ("loop.max_steps=1.5", "`loop.max_steps` must be an integer, got 1.5"),
        ("loop.max_steps=0", "`loop.max_steps` must be at least 1, got 0"),
        ("loop.batch_size=-1", "`loop.batch_size` must be at least 1, got -1"),
        ("loop.learning_rate=fast", "`loop.learning_rate` must be a number"),
        ("loop.lr_scheduler_type=step", "`loop.lr_scheduler_type` must be cosine, linear"),
        ("loop={batch_size: 10, micro_batch_size: 4}", "`loop.batch_size` must be a multiple"),
        ("loop.compile=perhaps", "`loop.compile` must be true or false"),
        ("loop=5", "`loop` must be a mapping"),
        ("text.sources=[1, 2]", "`text.sources.0` must be a string"),
        ("text.validation_fraction=1", "`text.validation_fraction` must be less than 1"),
        ("objective=causal", "`objective` must be a mapping"),
        ("objective.name=[causal]", "`objective.name` must be one of"),
        ("objective.mlm_probability=0.5", "no option `objective.mlm_probability`; choose from document_mask"),
        ("objective.name=masked", "MaskedLM trains bert or roberta"),
        ("embeddings.vectors=books", "need `embeddings.init` to be cipher"),
    ],
)
def test_invalid_setting_raises(recipe_file, setting, fact):
    with pytest.raises(BitcipherError, match=fact) as error:
        read_recipe(recipe_file, [setting])
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("setting", "unknown", "options"),
    [
        ("loops=3", "loops", "embeddings, loop, model, objective, seed, text"),
        ("loop.step=3", "loop.step", "max_steps"),
        (
            "text.tokenizer.sizes=3",
            "text.tokenizer.sizes",
            "kind, lowercase, path, sample_fraction, segmentation, sentinels, vocab_size",
        ),
    ],
)
def test_unknown_option_lists_options(recipe_file, setting, unknown, options):
    with pytest.raises(BitcipherError) as error:
        read_recipe(recipe_file, [setting])
    assert f"no option `{unknown}`" in str(error.value)
    assert options in str(error.value)


def test_objective_options_in_scientific_notation(recipe_file):
    recipe = read_recipe(recipe_file, ["model.architecture=bert", "objective={name: masked, mlm_probability: 2e-1}"])
    assert recipe.make_objective() == MaskedLM(mlm_probability=0.2)


@pytest.mark.parametrize("content", ["", "- a\n- b\n", "loop: [", "!!python/object/apply:os.system ['true']\n"])
def test_invalid_recipe_file_raises(tmp_path, content):
    path = tmp_path / "recipe.yaml"
    path.write_text(content)
    with pytest.raises(BitcipherError, match=r"recipe\.yaml"):
        read_recipe(str(path))


def test_missing_recipe_file_raises(tmp_path):
    with pytest.raises(BitcipherError, match="missing"):
        read_recipe(str(tmp_path / "missing.yaml"))


RECIPES = st.builds(
    lambda sources, steps, rate, share, seed: {
        "text": {"sources": sources, "field": "a: b"},
        "model": {"architecture": "bert"},
        "objective": {"name": "masked", "mlm_probability": share},
        "loop": {"max_steps": steps, "learning_rate": rate},
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
def test_recipe_round_trip(values):
    recipe = Recipe.parse(values, "test")
    assert Recipe.parse(yaml.safe_load(recipe.to_yaml()), "test") == recipe


def test_yaml_has_every_option():
    written = yaml.safe_load(Recipe().to_yaml())
    assert written["model"]["checkpoint"] is None
    assert {"text", "model", "objective", "embeddings", "loop", "seed"} == set(written)
    assert written["text"]["tokenizer"]["vocab_size"] == 8000

"""Recipe: all options of a pre-training run, read from YAML."""

import copy
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Self, cast

import yaml
from pydantic import Field, SerializerFunctionWrapHandler, model_serializer, model_validator

from bitcipher.errors import BitcipherError
from bitcipher.files.records import Float, Record, Strings
from bitcipher.files.settings import apply_settings
from bitcipher.files.yaml_files import find_yaml, read_yaml
from pipelines.ingest.outside_lists import ListProtocols
from pipelines.ingest.read_options import ReadOptions
from training.data.tokenizer_options import TokenizerOptions
from training.loop.options import LoopOptions
from training.models.embeddings.options import EmbeddingInitOptions
from training.models.options import ModelOptions
from training.objectives.base import Objective, check_objective
from training.objectives.registry import make_objective
from training.objectives.text_pairs import TextPairs
from training.runs.study_declarations import recipe_folders


class TextOptions(ReadOptions):
    """Text, its tokenizer and its validation split."""

    sources: Strings = ()
    """Files, folders or globs of text, JSON lines, Parquet or WET, or with the objective `text_pairs` of TSV or JSON
    lines; paths are relative to the working directory."""
    tokenizer: TokenizerOptions = TokenizerOptions()
    """Tokenizer to train on the text, or to load."""
    validation_fraction: Float = Field(0.01, gt=0, lt=1)
    """Fraction of the documents in the validation split."""
    validation_sources: Strings = ()
    """Files, folders or globs of the validation split, instead of a fraction of the sources."""
    list_protocols: ListProtocols = ()  # unlike those of a build, recipes are sent to trials, and stored to be repeated

    @model_serializer(mode="wrap")
    def _leave_out_no_protocols(self, serialize: SerializerFunctionWrapHandler) -> dict[str, Any]:
        return {name: value for name, value in serialize(self).items() if name != "list_protocols" or value}


class Recipe(Record):
    """Options of a pre-training run."""

    text: TextOptions = TextOptions()
    model: ModelOptions = ModelOptions()
    objective: dict[str, Any] = Field(default_factory=lambda: {"name": "masked"})
    """Name and options of the objective (see `training.objectives`)."""
    embeddings: EmbeddingInitOptions = EmbeddingInitOptions()
    loop: LoopOptions = LoopOptions()
    seed: int = 1
    """Seed of the weights, the order of the sequences, the masks and dropout."""

    @model_validator(mode="after")
    def _check(self) -> Self:
        try:
            check_objective(self.make_objective(), self.model)
        except BitcipherError as error:
            # `Record.parse` puts the name of the file before the message of a ValueError.
            raise ValueError(str(error)) from None
        if self.text_pairs is not None:
            for name, field in ReadOptions.model_fields.items():
                if name != "list_protocols" and getattr(self.text, name) != field.default:
                    raise ValueError(f"`text.{name}` has no effect on pairs of texts; leave it out.")
        return self

    def make_objective(self) -> Objective:
        """Return the objective with its options."""
        return make_objective(self.objective)

    @property
    def text_pairs(self) -> TextPairs | None:
        """The objective if its examples are pairs of texts, else None."""
        objective = self.make_objective()
        return cast(TextPairs, objective) if objective.reads_pairs else None

    def to_yaml(self) -> str:
        """Return the recipe with all options as YAML, which `read_recipe` reads. URIs have no credentials."""
        # Non-ASCII characters are escaped, because PyYAML cannot read some characters that it writes, such as U+0085.
        return yaml.safe_dump(self.redacted().to_dict(), sort_keys=False)


def find_recipe(name: str) -> str:
    """Return the path of a shipped recipe, or `name` itself if it is a path or URI.

    Raises:
        BitcipherError: if no shipped recipe has this name.
    """
    return find_yaml(name, [Path(__file__).parent / "recipes", *recipe_folders()], "recipe")


def make_recipe(recipe: str | Mapping[str, Any], settings: Sequence[str] = ()) -> Recipe:
    """Return a recipe.

    Args:
        recipe: name of a shipped recipe, path or URI of a YAML file, or plain values of options, nested by group.
        settings: changes of options, such as "loop.max_steps=100"; values are YAML.

    Raises:
        BitcipherError: if there is no such recipe, or an option does not exist or is invalid.
    """
    if isinstance(recipe, str):
        return read_recipe(find_recipe(recipe), settings)
    values = copy.deepcopy(dict(recipe))
    return Recipe.parse(values, apply_settings(values, "The recipe", settings))


def read_recipe(uri: str, settings: Sequence[str] = ()) -> Recipe:
    """Read a recipe from a YAML file.

    Args:
        uri: path or URI of the file.
        settings: changes of options, such as "loop.max_steps=100"; values are YAML.

    Raises:
        BitcipherError: if the file is missing or not YAML, or an option does not exist or is invalid.
    """
    values = read_yaml(uri)
    return Recipe.parse(values, apply_settings(values, uri, settings))

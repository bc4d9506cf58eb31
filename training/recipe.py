"""A recipe: all that a training run depends on, in one frozen record, from YAML."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import yaml

from bitcipher import storage
from bitcipher.errors import BitcipherError
from training.data import TokenizerOptions
from training.embeddings import EmbeddingInitOptions
from training.loop import LoopOptions
from training.models import ModelOptions
from training.objectives import check_fits, make_objective
from training.settings import change, find_yaml, make_record


@dataclass(frozen=True)
class TextOptions:
    """The text, and how it is cut."""

    sources: tuple[str, ...] = ()
    """Files, folders or globs of text, JSON lines, Parquet or WET; relative to where the command runs."""
    tokenizer: TokenizerOptions = field(default_factory=TokenizerOptions)
    """The tokenizer that is trained on the text, or loaded."""
    format: str | None = None
    """text, jsonl, parquet or wet for all files; told by each file's ending if not given."""
    document: str = "line"
    """In plain text, each line is a document, or the whole file."""
    field: str = "text"
    """The field of JSON lines, or the column of Parquet, that holds the text."""
    validation_share: float = 0.01
    """Share of the documents that are held out."""
    held_out: tuple[str, ...] = ()
    """Files, folders or globs that are held out as a whole, instead of a share of the sources."""

    def __post_init__(self) -> None:
        """Refuse what cannot be cut."""
        if not 0 < self.validation_share < 1:
            raise BitcipherError(f"validation_share is a share between 0 and 1, not {self.validation_share}.")


@dataclass(frozen=True)
class Recipe:
    """A training run."""

    text: TextOptions = field(default_factory=TextOptions)
    model: ModelOptions = field(default_factory=ModelOptions)
    objective: dict[str, Any] = field(default_factory=lambda: {"name": "masked"})
    """Its name, and options of its own (see training/objectives)."""
    embeddings: EmbeddingInitOptions = field(default_factory=EmbeddingInitOptions)
    loop: LoopOptions = field(default_factory=LoopOptions)
    seed: int = 1
    """Of weights, order, masks and dropout."""

    def __post_init__(self) -> None:
        """Refuse an objective that does not exist, or does not fit the model."""
        if not isinstance(self.objective.get("name"), str):
            raise BitcipherError("The objective of a recipe needs a name.")
        check_fits(make_objective(**self.objective), self.model)

    def to_yaml(self) -> str:
        """The recipe with every option, as `read_recipe` reads it."""
        # Letters beyond ASCII are escaped: PyYAML reads some that it writes, such as U+0085, as others.
        return yaml.safe_dump(_plain(asdict(self)), sort_keys=False)


def find_recipe(name: str) -> str:
    """The path of a recipe that comes with bitcipher, or the name itself where it is a file's.

    Raises:
        BitcipherError: if there is neither.
    """
    return find_yaml(name, Path(__file__).parent / "recipes", "recipe")


def read_recipe(uri: str, settings: Sequence[str] = ()) -> Recipe:
    """A recipe from a YAML file.

    Args:
        uri: the file.
        settings: changes to it, such as "loop.steps=100"; the value is YAML.

    Raises:
        BitcipherError: if it is missing, is not YAML, or if an option does not exist or cannot have such a value.
    """
    values = storage.read_yaml(uri)
    for setting in settings:
        change(values, setting)
    return make_recipe(values, uri)


def make_recipe(values: dict[str, Any], origin: str) -> Recipe:
    """A recipe from plain values.

    Args:
        values: options by group; what is left out has its default.
        origin: what to call their source in errors.

    Raises:
        BitcipherError: if an option does not exist, or cannot have such a value.
    """
    return make_record(Recipe, values, origin)


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _plain(each) for name, each in value.items()}
    return [_plain(each) for each in value] if isinstance(value, tuple | list) else value

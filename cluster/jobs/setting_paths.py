"""Paths in the settings, references and recipes of a command that runs as a job on a cluster."""

import json
import os
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from bitcipher.errors import BitcipherError
from bitcipher.files.yaml_files import SafeLoader, read_yaml
from training.runs.study_declarations import study_declarations

# Options of recipes that are paths, or names of files that end in .json; studies declare theirs. The records of these
# options import libraries that this machine may lack, so a test compares the names with them.
_PATH_OPTIONS = frozenset(
    {
        *("sources", "vocabulary", "word_list", "tokenizer", "tokenizer.path"),
        *("text.sources", "text.validation_sources", "text.tokenizer.path", "model.checkpoint"),
        *("embeddings.vectors", "embeddings.build.word_list", "model", "data"),
    }
)
_TOKENIZER = "tokenizer"

Translate = Callable[[str], str]


@cache
def path_options() -> frozenset[str]:
    """Return the names of all options of recipes and studies that are paths."""
    return _PATH_OPTIONS.union(*(study.path_settings for study in study_declarations()))


def translate_setting(setting: str, translate: Translate) -> str:
    """Return a `NAME=VALUE` setting with its paths translated. What is no valid setting is returned unchanged.

    Raises:
        BitcipherError: if `translate` raises it.
    """
    name, equals, text = setting.partition("=")
    try:
        value = yaml.load(text, SafeLoader)
    except (yaml.YAMLError, RecursionError, ValueError):
        return setting
    translated = _translate(name, value, translate)
    return setting if not equals or translated == value else f"{name}={json.dumps(translated, ensure_ascii=False)}"


def translate_reference(reference: str, translate: Translate) -> str:
    """Return a `KIND=PATH` reference with its path translated."""
    kind, equals, path = reference.partition("=")
    return kind + equals + translate(path) if path else reference


def check_recipe(recipe: str, working_dir: str | None, given: Sequence[str]) -> None:
    """Check that the paths in a recipe of this machine are the same files for a job.

    Args:
        recipe: path of the recipe. URIs, and files that only the nodes have, are not read.
        working_dir: directory that is sent with the code, in a copy of which the job starts, or None.
        given: names of options, or of groups of options, that the command sets instead of the recipe.

    Raises:
        BitcipherError: if the recipe cannot be read, or has a relative path to a file that is not sent.
    """
    sent = Path(working_dir, recipe) if working_dir is not None else Path(recipe)
    file = sent if sent.exists() else Path(recipe)
    for name, path in _iter_paths("", read_yaml(str(file))) if file.exists() else ():
        is_set = any(f"{name}.".startswith(f"{each}.") for each in given)
        is_sent = working_dir is not None and Path(working_dir, path).exists()
        if not (is_set or is_sent or "://" in path or os.path.isabs(path)):
            raise BitcipherError(
                f"{recipe} sets `{name}` to {path}, but a job starts in another directory: write a URI or an absolute "
                "path that every node sees, or send the file with --working-dir."
            )


def _translate(name: str, value: Any, translate: Translate) -> Any:
    if isinstance(value, dict):
        return {each: _translate(f"{name}.{each}", inner, translate) for each, inner in value.items()}
    if isinstance(value, list):
        return [_translate(name, each, translate) for each in value]
    return translate(value) if _is_path(name, value) else value


def _iter_paths(name: str, value: Any) -> Iterator[tuple[str, str]]:
    """Yield the name of the option and the path of each path in plain values."""
    if isinstance(value, dict):
        for each, inner in value.items():
            yield from _iter_paths(f"{name}.{each}" if name else str(each), inner)
    elif isinstance(value, list):
        for each in value:
            yield from _iter_paths(name, each)
    elif _is_path(name, value):
        yield name, value


def _is_path(name: str, value: Any) -> bool:
    is_path = isinstance(value, str) and name in path_options()
    return is_path and (name != _TOKENIZER or value.endswith(".json"))

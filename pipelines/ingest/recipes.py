"""Recipes: YAML files with options of a command and, optionally, its sources."""

from pathlib import Path
from typing import Any

from bitcipher.errors import BitcipherError
from bitcipher.files.plain_values import check_plain
from bitcipher.files.yaml_files import find_yaml, read_yaml
from pipelines.ingest.read_options import ReadOptions


def read_recipe(name: str, folder: Path, options: type[ReadOptions]) -> tuple[dict[str, Any], list[str]]:
    """Return the validated options of a recipe as plain values, and its sources.

    Args:
        name: name of a shipped recipe, or path or URI of a YAML file.
        folder: folder of the shipped recipes.
        options: class of the options.

    Raises:
        BitcipherError: if there is no such recipe, or it is invalid.
    """
    uri = find_yaml(name, [folder], "recipe")
    values = read_yaml(uri)
    check_plain(values, uri)
    sources = values.pop("sources", [])
    if not isinstance(sources, list) or not all(isinstance(source, str) for source in sources):
        raise BitcipherError(f"{uri}: `sources` must be a list of paths or URIs, got {sources!r}.")
    options.parse(values, uri)
    return values, sources

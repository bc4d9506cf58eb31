"""YAML files: recipes, and other files that people write."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import yaml

from bitcipher import storage
from bitcipher.errors import BitcipherError


@contextmanager
def reading_yaml(uri: str) -> Iterator[IO[bytes]]:
    """Open a YAML file for reading bytes, which the `with` block parses.

    Raises:
        BitcipherError: if there is no such file, it cannot be read, or the block raises an error of YAML.
    """
    with storage.reading(uri) as stream:
        try:
            yield stream
        # Deep nesting exceeds the recursion limit of the parser.
        except (yaml.YAMLError, RecursionError) as error:
            raise BitcipherError(f"{uri} is not valid YAML: {' '.join(str(error).split())}.") from None


def find_yaml(name: str, folder: Path, kind: str) -> str:
    """Return the path of a shipped YAML file, or `name` itself if it is a path or URI.

    Args:
        name: file name without its extension, or a path or URI.
        folder: folder of the shipped files.
        kind: noun for the file in error messages, such as "recipe".

    Raises:
        BitcipherError: if no shipped file has this name.
    """
    if "/" in name or name.endswith((".yaml", ".yml")):
        return name
    path = folder / f"{name}.yaml"
    if not path.exists():
        names = ", ".join(sorted(each.stem for each in folder.glob("*.yaml")))
        raise BitcipherError(f"There is no {kind} {name!r}; choose from {names}, or give the path of a YAML file.")
    return str(path)


def read_yaml(uri: str) -> dict[str, Any]:
    """Return the mapping in a YAML file.

    Raises:
        BitcipherError: if the file is missing, is not YAML, or is not a mapping.
    """
    with reading_yaml(uri) as stream:
        values = yaml.safe_load(stream)
    if not isinstance(values, dict):
        raise BitcipherError(f"The recipe {uri} must hold options as `name: value` lines.")
    return values

"""YAML files: recipes, and other files that people write."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, cast

import yaml
from yaml.composer import ComposerError

from bitcipher.errors import BitcipherError
from bitcipher.files import storage


class _WithoutAliases:
    """Mixin of YAML loaders that refuses aliases, with which a file of 250 bytes can stand for any amount of values."""

    def compose_node(self, parent: Any, index: Any) -> Any:
        loader = cast(Any, super())
        if loader.check_event(yaml.AliasEvent):
            event = loader.peek_event()
            problem = f"the alias *{event.anchor} is not supported, so write its value out"
            raise ComposerError(None, None, problem, event.start_mark)
        return loader.compose_node(parent, index)


class SafeLoader(_WithoutAliases, yaml.SafeLoader):
    """Loader of plain values."""


class BaseLoader(_WithoutAliases, yaml.BaseLoader):
    """Loader that reads all scalars as strings."""


@contextmanager
def reading_yaml(uri: str) -> Iterator[IO[bytes]]:
    """Open a YAML file for reading bytes, which the `with` block parses by a loader of this module.

    Raises:
        BitcipherError: if there is no such file, it cannot be read, or the block raises an error of YAML.
    """
    with storage.reading(uri) as stream:
        try:
            yield stream
        except RecursionError:
            raise BitcipherError(f"{uri} is not valid YAML: it has too many nested lists or mappings.") from None
        # ValueError: a number of too many digits, or a date that is not in the calendar
        except (yaml.YAMLError, ValueError) as error:
            raise BitcipherError(f"{uri} is not valid YAML: {' '.join(str(error).split())}.") from None


def find_yaml(name: str, folders: Sequence[Path], kind: str) -> str:
    """Return the path of a shipped YAML file, or `name` itself if it is a path or URI.

    Args:
        name: file name without its extension, or a path or URI.
        folders: folders of the shipped files.
        kind: noun for the file in error messages, such as "recipe".

    Raises:
        BitcipherError: if no shipped file has this name.
    """
    if "/" in name or name.endswith((".yaml", ".yml")):
        return name
    shipped = {path.stem: path for folder in folders for path in folder.glob("*.yaml")}
    if name not in shipped:
        names = ", ".join(sorted(shipped))
        raise BitcipherError(f"There is no {kind} {name!r}; choose from {names}, or give the path of a YAML file.")
    return str(shipped[name])


def read_yaml(uri: str) -> dict[str, Any]:
    """Return the mapping in a YAML file.

    Raises:
        BitcipherError: if the file is missing, is not YAML, or is not a mapping.
    """
    with reading_yaml(uri) as stream:
        values = yaml.load(stream, SafeLoader)
    if not isinstance(values, dict):
        raise BitcipherError(f"The recipe {uri} must hold options as `name: value` lines.")
    return values

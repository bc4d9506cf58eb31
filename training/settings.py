"""Records of options from plain values, and changes to such values as NAME=VALUE."""

from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any, TypeVar, get_args

import yaml
from pydantic import TypeAdapter, ValidationError

from bitcipher.errors import BitcipherError

Record = TypeVar("Record")


def make_record(kind: type[Record], values: dict[str, Any], origin: str) -> Record:
    """A record of options, and of groups of them.

    Args:
        kind: a dataclass, whose fields may be dataclasses.
        values: options by group; what is left out has its default.
        origin: what to call their source in errors.

    Raises:
        BitcipherError: if an option does not exist, is missing, or cannot have such a value.
    """
    _check_names(values, kind, origin, "")
    try:
        return TypeAdapter(kind).validate_python(values)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"])
        told = "a list is wanted, such as [corpus]" if first["type"] == "tuple_type" else first["msg"]
        raise BitcipherError(f"{origin} gives {place} as {first['input']!r}: {told}.") from None


def find_yaml(name: str, folder: Path, kind: str) -> str:
    """The path of a file that comes with bitcipher, or the name itself where it is a path or URI.

    Args:
        name: of a file in the folder, without its ending, or a path.
        folder: what comes with bitcipher.
        kind: what to call it in errors.

    Raises:
        BitcipherError: if there is neither.
    """
    if "/" in name or name.endswith((".yaml", ".yml")):
        return name
    path = folder / f"{name}.yaml"
    if not path.exists():
        known = ", ".join(sorted(each.stem for each in folder.glob("*.yaml")))
        raise BitcipherError(f"There is no {kind} {name!r}: choose {known}, or give the path of a YAML file.")
    return str(path)


def change(values: dict[str, Any], setting: str) -> None:
    """Set one of the plain values.

    Args:
        values: options by group.
        setting: such as "loop.steps=100"; the value is YAML.

    Raises:
        BitcipherError: if it is not of that form.
    """
    path, equals, text = setting.partition("=")
    if not equals or not path:
        raise BitcipherError(f"A setting is NAME=VALUE, such as loop.steps=100, not {setting!r}.")
    *groups, name = path.split(".")
    for group in groups:
        values = values.setdefault(group, {})
        if not isinstance(values, dict):
            raise BitcipherError(f"{group} of the setting {setting!r} is no group of options.")
    try:
        values[name] = yaml.safe_load(text)
    except yaml.YAMLError:
        raise BitcipherError(f"The value of the setting {setting!r} is not YAML.") from None


def _check_names(values: Any, record: type, origin: str, path: str) -> None:
    if not isinstance(values, dict):
        raise BitcipherError(f"{origin} gives {path.rstrip('.')} as {values!r}; it takes `name: value` lines.")
    types = {field.name: field.type for field in fields(record)}
    for name, value in values.items():
        if name not in types:
            raise BitcipherError(
                f"{origin} has an option {path}{name} that does not exist; there are {', '.join(sorted(types))}."
            )
        inner = next((each for each in (types[name], *get_args(types[name])) if is_dataclass(each)), None)
        if inner and value is not None:
            _check_names(value, inner, origin, f"{path}{name}.")

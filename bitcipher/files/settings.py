"""Options of recipes by dotted names: NAME=VALUE settings, and NAME=VALUES items of searches."""

import json
from collections.abc import Sequence
from typing import Any

import yaml

from bitcipher.errors import BitcipherError
from bitcipher.files.yaml_files import SafeLoader


def apply_settings(values: dict[str, Any], source: str, settings: Sequence[str]) -> str:
    """Set options in the plain values of a recipe or a study, and return where these values come from.

    Args:
        values: options by name, nested by group; changed in place.
        source: where the values come from, for error messages.
        settings: dotted names and YAML values of options, such as "loop.max_steps=100".

    Raises:
        BitcipherError: if a setting is not NAME=VALUE, a part of the name is not a group, or the value is not YAML.
    """
    for setting in settings:
        _apply(values, setting)
    return f"{source} with --set {' '.join(settings)}" if settings else source


def parse_values(item: str, flag: str) -> tuple[str, Any]:
    """Return the name of an option and its possible values, which a user gave as NAME=VALUES.

    Args:
        item: name and values, such as "loop.batch_size=[16, 32]"; values are YAML.
        flag: option of the command line, for error messages.

    Raises:
        BitcipherError: if the item is not NAME=VALUES, or the values are not YAML.
    """
    name, equals, text = item.partition("=")
    if not equals or not name:
        raise BitcipherError(f"`{flag}` must be NAME=VALUES, such as loop.batch_size=[16, 32], got {item!r}.")
    try:
        return name, yaml.load(text, SafeLoader)
    except (yaml.YAMLError, RecursionError, ValueError):
        raise BitcipherError(f"The values of `{flag} {item}` are not valid YAML.") from None


def _apply(values: dict[str, Any], setting: str) -> None:
    name, equals, text = setting.partition("=")
    if not equals or not name:
        raise BitcipherError(f"A setting must be NAME=VALUE, such as loop.max_steps=100, got {setting!r}.")
    try:
        value = yaml.load(text, SafeLoader)
    except (yaml.YAMLError, RecursionError, ValueError):
        raise BitcipherError(f"The value of the setting {setting!r} is not valid YAML.") from None
    set_option(values, name, value, setting)


def set_option(values: dict[str, Any], name: str, value: Any, setting: str) -> None:
    """Set an option in the plain values of a recipe or a study.

    Args:
        values: options by name, nested by group; changed in place.
        name: dotted name of the option.
        value: its new value.
        setting: name and value, for error messages.

    Raises:
        BitcipherError: if a part of the name is not a group.
    """
    *groups, last = name.split(".")
    for group in groups:
        values = values.setdefault(group, {})
        if not isinstance(values, dict):
            raise BitcipherError(f"The setting {setting!r} is invalid, because `{group}` is not a group of options.")
    values[last] = value


def get_option(values: dict[str, Any], name: str) -> Any:
    """Return an option in the plain values of a recipe, or None if it has no such option.

    Args:
        values: options by name, nested by group.
        name: dotted name of the option.
    """
    value: Any = values
    for part in name.split("."):
        value = value.get(part) if isinstance(value, dict) else None
    return value


def format_value(value: Any) -> str:
    """Return the value of an option for tables and messages; numbers have at most six digits.

    >>> format_value(3e-05), format_value([16, 32]), format_value("linear")
    ('3e-05', '[16, 32]', 'linear')
    """
    return f"{value:g}" if isinstance(value, float) else json.dumps(value) if not isinstance(value, str) else value

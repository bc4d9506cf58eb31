"""Options of recipes by dotted names, which users set as NAME=VALUE."""

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
        form = "A setting must be NAME=VALUE, such as loop.max_steps=100"
        name, value = parse_item(setting, form, f"The value of the setting {setting!r} is")
        set_option(values, name, value, setting)
    return f"{source} with --set {' '.join(settings)}" if settings else source


def parse_item(item: str, form: str, content: str) -> tuple[str, Any]:
    """Return the name and the content of an item that a user gave as NAME=YAML.

    Args:
        item: name and YAML, such as "loop.max_steps=100".
        form: what an item must be, the beginning of the error message for one without a name.
        content: the part after the name and its verb, the beginning of the error message for other text than YAML.

    Raises:
        BitcipherError: if the item has no name, or its content is not YAML.
    """
    name, equals, text = item.partition("=")
    if not equals or not name:
        raise BitcipherError(f"{form}, got {item!r}.")
    try:
        return name, yaml.load(text, SafeLoader)
    except (yaml.YAMLError, RecursionError, ValueError):
        raise BitcipherError(f"{content} not valid YAML.") from None


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

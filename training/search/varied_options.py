"""Options of a recipe that a search varies, by dotted names: NAME=VALUES items, and the values of each trial."""

import copy
import json
from collections.abc import Mapping
from typing import Any

from bitcipher.errors import BitcipherError
from bitcipher.files.settings import parse_item, set_option


def parse_values(item: str, flag: str, fixed: Mapping[str, str]) -> tuple[str, Any]:
    """Return the name of an option and its possible values, which a user gave as NAME=VALUES.

    Args:
        item: name and values, such as "loop.batch_size=[16, 32]"; values are YAML.
        flag: option of the command line, for error messages.
        fixed: names of options that cannot vary, with the reason.

    Raises:
        BitcipherError: if the item is not NAME=VALUES, the values are not YAML, or the option cannot vary.
    """
    form = f"`{flag}` must be NAME=VALUES, such as loop.batch_size=[16, 32]"
    name, values = parse_item(item, form, f"The values of `{flag} {item}` are")
    if name in fixed:
        raise BitcipherError(f"`{flag}` cannot vary {name}: {fixed[name]}.")
    return name, values


def with_options(values: dict[str, Any], settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return a copy of the plain values of a recipe with other values of some options.

    Args:
        values: options by name, nested by group.
        settings: values by dotted name.

    Raises:
        BitcipherError: if a part of a name is not a group.
    """
    changed = copy.deepcopy(values)
    for name, value in settings.items():
        set_option(changed, name, value, f"{name}={value}")
    return changed


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


def format_settings(settings: Mapping[str, Any]) -> str:
    """Return names and values of options for messages, such as "loop.batch_size=16, seed=1"."""
    return ", ".join(f"{name}={format_value(value)}" for name, value in settings.items())


def format_value(value: Any) -> str:
    """Return the value of an option for tables and messages; numbers have at most six digits.

    >>> format_value(3e-05), format_value([16, 32]), format_value("linear")
    ('3e-05', '[16, 32]', 'linear')
    """
    return f"{value:g}" if isinstance(value, float) else json.dumps(value) if not isinstance(value, str) else value

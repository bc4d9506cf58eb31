"""Results of commands: a table for people, or one JSON object for programs."""

import dataclasses
import json
import math
from collections.abc import Callable, Mapping, Sequence
from enum import Enum
from typing import Any

from bitcipher.files.records import Record
from bitcipher.terminal import print_text


def print_result(result: object, as_json: bool, print_table: Callable[[], None]) -> None:
    """Print the result of a command to stdout.

    Args:
        result: a record, dataclass or mapping, whose field names are those of the JSON object.
        as_json: whether to print one JSON object.
        print_table: function that prints the result for people.
    """
    if as_json:
        # Escaped to ASCII, because words can have control characters, and names of files undecodable bytes.
        print_text(json.dumps(_plain(result), indent=2, allow_nan=False))
    else:
        print_table()


def _plain(value: Any) -> Any:
    """Return the value as JSON has it. Numbers that are not finite become null."""
    if isinstance(value, Record):
        return _plain(value.to_dict())
    if dataclasses.is_dataclass(value):
        return {field.name: _plain(getattr(value, field.name)) for field in dataclasses.fields(value)}
    if isinstance(value, Mapping):
        return {str(_plain(key)): _plain(each) for key, each in value.items()}
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if value is None or isinstance(value, (str, int)):
        return value
    if isinstance(value, Sequence):
        return [_plain(each) for each in value]
    return _plain(value.item())  # a scalar of NumPy

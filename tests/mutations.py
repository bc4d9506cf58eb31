"""Random mutations of files: flipped bits, removed, repeated and inserted pieces, hostile values."""

import copy
import gzip
import json
import random
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import yaml

from bitcipher.files import json_files

# A number with more digits than Python converts by default.
DIGITS = 5000
HOSTILE_TEXTS = (
    b"x" * 999,
    *(b"9" * DIGITS, b"-1", b"0", b"1e999", b"NaN", b"Infinity", b"99999999999", b"18446744073709551616", b"0.5"),
    *(
        b"[" * 2000,
        b'{"a":' * 2000,
        b"\xff\xfe",
        b"\x00",
        b"\n",
        b"\t",
        b" ",
        b"",
        b"null",
        b"true",
        b'"x"',
    ),
    *(b"\xe2\x80\xa8", b"\xed\xa0\x80", b'"\\ud800"', b"- ", b": ", b"'", b'"', b"<oov>", b"../../x", b"\x1b[31m"),
)
HOSTILE_VALUES = (
    *(None, -1, 0, 1, 2.5, 2**31, 2**63, 2**64, 10**20, True, "", "x", "\ud800", "../../x", "1"),
    *([], [None], [0], {}, {"x": 1}, float("nan"), float("inf"), 1e308),
)
_WORD = re.compile(rb"[^\s,:{}\[\]\"]+")
_NUMBER = re.compile(rb"-?\d+(\.\d+)?")


def mutate_bytes(content: bytes, state: random.Random, pieces: Sequence[bytes]) -> bytes:
    """Return bytes with one to four changes: flipped bits, and removed, repeated or inserted pieces."""
    changed = bytearray(content)
    for _ in range(state.randint(1, 4)):
        start = state.randrange(len(changed) or 1)
        stop = start + state.randint(0, 60)
        kind = state.randrange(5)
        if kind == 0 and changed:
            changed[start] ^= 1 << state.randrange(8)
        elif kind == 1:
            del changed[start:stop]
        elif kind == 2:
            changed[start:start] = changed[stop : stop + state.randint(0, 2000)]
        elif kind == 3:
            changed[start:stop] = state.choice(pieces)
        else:
            del changed[state.randint(1, len(changed) or 1) :]
    return bytes(changed)


def mutate_text(content: bytes, state: random.Random) -> bytes:
    """Return text in which a number or a word is replaced with a hostile one."""
    found = list((_NUMBER if state.random() < 0.5 else _WORD).finditer(content))
    if not found:
        return content + state.choice(HOSTILE_TEXTS)
    match = state.choice(found)
    return content[: match.start()] + state.choice(HOSTILE_TEXTS) + content[match.end() :]


def mutate_values(values: Any, state: random.Random) -> Any:
    """Return JSON values in which a random value is removed, or replaced with a hostile value or another one."""
    values = copy.deepcopy(values)
    paths = list(paths_in(values))
    if not paths:
        return state.choice(HOSTILE_VALUES)
    *parents, last = state.choice(paths)
    parent = values
    for key in parents:
        parent = parent[key]
    kind = state.randrange(4)
    if kind == 0:
        del parent[last]
    elif kind == 1:
        other = values
        for key in state.choice(paths):
            other = other[key]
        parent[last] = copy.deepcopy(other)
    else:
        parent[last] = copy.deepcopy(state.choice(HOSTILE_VALUES))
    return values


def mutate_file(path: Path, state: random.Random) -> None:
    """Apply a random mutation of any kind to a file."""
    path.write_bytes(_mutate(path.read_bytes(), path.suffix, state))


def _mutate(content: bytes, suffix: str, state: random.Random) -> bytes:
    if state.random() < 0.05:
        return state.choice((b"", bytes(64), b"{}", b"[]", b"null", content * 2))
    kind = state.randrange(4)
    if kind == 0:
        return mutate_bytes(content, state, HOSTILE_TEXTS)
    if kind >= 2 and suffix == ".json":
        values = json.loads(content)
        if isinstance(values, dict):
            values.pop(json_files.CHECKSUM, None)  # else, each change would be noticed at once
        return json.dumps(mutate_values(values, state)).encode()
    if kind >= 2 and suffix == ".yaml":
        return yaml.safe_dump(mutate_values(yaml.safe_load(content), state)).encode()
    if kind >= 2 and suffix == ".jsonl":
        lines = content.splitlines()
        number = state.randrange(len(lines))
        lines[number] = json.dumps(mutate_values(json.loads(lines[number]), state)).encode()
        return b"\n".join(lines) + b"\n"
    if suffix == ".gz":
        return gzip.compress(mutate_text(gzip.decompress(content), state))
    return mutate_text(content, state)


def paths_in(value: Any, path: tuple[Any, ...] = ()):
    """Yield the paths of all values inside a JSON value."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        yield (*path, key)
        yield from paths_in(item, (*path, key))

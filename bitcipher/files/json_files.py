"""JSON files, with a checksum of their content in files of bitcipher.

The last field of a file that `write` creates is `checksum`, the SHA-256 of the file without this field. `read` compares
it with the content, so a changed digit is noticed. Files without the field, such as those of other programs, are read
as they are.
"""

import hashlib
import json
import re
from typing import Any

from bitcipher.errors import BitcipherError
from bitcipher.files import storage

CHECKSUM = "checksum"

_END = b"\n}\n"
_CHECKSUM_LINE = re.compile(rb',\n  "checksum": "([0-9a-f]{64})"\n}\n')
_CHECKSUM_BYTES = len(b',\n  "checksum": ""\n}\n') + 64


def to_bytes(values: dict[str, Any]) -> bytes:
    """Return the content of a JSON file without a checksum: indented, with the keys in the given order."""
    return json.dumps(values, indent=2, ensure_ascii=False).encode() + b"\n"


def to_checked_bytes(values: dict[str, Any]) -> bytes:
    """Return the content of a JSON file with a checksum, which `parse` removes.

    Args:
        values: at least one field, and none named `checksum`.
    """
    content = to_bytes(values)
    line = f',\n  "{CHECKSUM}": "{hashlib.sha256(content).hexdigest()}"'
    return content.removesuffix(_END) + line.encode() + _END


def parse(content: bytes, uri: str) -> dict[str, Any]:
    """Return the JSON object in the content of a file, without its checksum.

    Args:
        content: content of the file.
        uri: name of the file for error messages.

    Raises:
        BitcipherError: if the content is not a JSON object, or differs from its checksum.
    """
    try:
        values = json.loads(content)
    except (ValueError, RecursionError):
        values = None
    if not isinstance(values, dict):
        raise BitcipherError(f"{uri} is not a JSON object: it is damaged, or not a file of bitcipher.")
    if next(reversed(values), None) == CHECKSUM:
        stored = _CHECKSUM_LINE.fullmatch(content, len(content) - _CHECKSUM_BYTES)
        if not stored or hashlib.sha256(content[: stored.start()] + _END).hexdigest() != stored[1].decode():
            raise BitcipherError(
                f"{uri} is damaged, or was changed after it was written, because its content differs from its "
                "checksum: restore it from a copy."
            )
        del values[CHECKSUM]
    return values


def read(uri: str) -> dict[str, Any]:
    """Return the object in a JSON file, without its checksum.

    Raises:
        BitcipherError: if the file is missing, is not a JSON object, or differs from its checksum.
    """
    content = storage.read_bytes(uri)
    if content is None:
        raise BitcipherError(f"There is no file {uri}.")
    return parse(content, uri)


def verify(uri: str) -> None:
    """Check each byte of a file that `write` created.

    Raises:
        BitcipherError: if the file is missing or damaged. A file without a checksum is damaged, too.
    """
    if to_checked_bytes(read(uri)) != storage.read_bytes(uri):
        raise BitcipherError(f"{uri} is damaged: its checksum is missing, or its form was changed.")


def write(uri: str, values: dict[str, Any]) -> None:
    """Write an object as JSON with a checksum.

    Raises:
        BitcipherError: if the file cannot be written.
    """
    storage.write_bytes(uri, to_checked_bytes(values))

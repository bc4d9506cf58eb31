"""Compressions of files, recognized by their first bytes or by the ending of a name."""

import re

ENDINGS = (".gz", ".zst", ".bz2", ".xz", ".lz4")

# Number of bytes that are needed to recognize a compression.
BEGINNING_BYTES = 16

# Beginnings of compressed files, each after the bytes that do not vary. The second of .zst is the frame that holds the
# dictionary of a `.warc.zst` file.
_FIXED = {
    ".gz": b"\x1f\x8b\x08",
    ".zst": b"\x28\xb5\x2f\xfd",
    ".bz2": b"BZh",
    ".xz": b"\xfd7zXZ\0",
    ".lz4": b"\x04\x22\x4d\x18",
}
_BEGINNINGS = {
    ".gz": re.compile(rb"\x1f\x8b\x08[\x00-\x1f]"),
    ".zst": re.compile(rb"\x28\xb5\x2f\xfd|\x5d\x2a\x4d\x18"),
    ".bz2": re.compile(rb"BZh[1-9](?:1AY&SY|\x17rE8P\x90)"),
    ".xz": re.compile(rb"\xfd7zXZ\x00"),
    ".lz4": re.compile(rb"\x04\x22\x4d\x18"),
}


def compression_of_bytes(beginning: bytes) -> str:
    """Return the ending of the compression that the first bytes of a file prove, or an empty string."""
    return next((ending for ending, pattern in _BEGINNINGS.items() if pattern.match(beginning)), "")


def may_begin(beginning: bytes, ending: str) -> bool:
    """Return whether the first bytes can be those of a truncated or damaged file of a compression."""
    fixed = _FIXED[ending]
    return beginning[: len(fixed)] == fixed[: len(beginning)]


def compression_of_name(name: str) -> str:
    """Return the compression ending of a file name, or an empty string."""
    name = name.lower()
    return next((ending for ending in ENDINGS if name.endswith(ending)), "")

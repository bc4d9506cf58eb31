"""Vectors in the formats that other libraries open, and theirs as `CipherVectors`: one module a format."""

from bitcipher.formats.reader import read
from bitcipher.formats.registry import FORMATS, Format
from bitcipher.formats.writer import write

__all__ = ["FORMATS", "Format", "read", "write"]

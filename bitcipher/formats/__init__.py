"""Vectors in the formats that other libraries open, and theirs as `CipherVectors`: one module a format."""

from bitcipher.formats.known import FORMATS, Format
from bitcipher.formats.reading import read
from bitcipher.formats.writing import write

__all__ = ["FORMATS", "Format", "read", "write"]

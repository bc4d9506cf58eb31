"""File formats of other libraries: one module per format, `read` to detect and read them, `write` to write them."""

from bitcipher.formats.reader import read
from bitcipher.formats.registry import FORMATS, Format
from bitcipher.formats.writer import write

__all__ = ["FORMATS", "Format", "read", "write"]

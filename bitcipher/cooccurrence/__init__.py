"""The counts of a build as an Arrow table of words and sparse co-occurrence matrices."""

from bitcipher.cooccurrence.build import Build, open_build

__all__ = ["Build", "open_build"]

"""File of a vocabulary, with the SHA-256 that it must have."""

from typing import NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from bitcipher.files.hashed_files import read_checked
from bitcipher.vocabulary import Vocabulary


class VocabularyFile(NamedTuple):
    """Parquet file with the words of a version in order of rank."""

    uri: str
    """URI of the file."""
    sha256: str
    """SHA-256 of its content, in hexadecimal digits."""

    def table(self) -> pa.Table:
        """Return the table of words, with the columns of `bitcipher.vocabulary.SCHEMA`.

        Raises:
            BitcipherError: if the file is missing, or its SHA-256 differs.
        """
        content = read_checked(self.uri, self.sha256)
        return pq.ParquetFile(pa.BufferReader(content)).read(use_threads=False)

    def read(self) -> Vocabulary:
        """Return the vocabulary.

        Raises:
            BitcipherError: if the file is missing, or its SHA-256 differs.
        """
        return Vocabulary.from_table(self.table())

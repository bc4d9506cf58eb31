"""Run a `bitcipher` command without the checks of stored counts and vectors, to measure what the checks cost.

unchecked_command.py ARGUMENT...

Left out are: checksums of pages, SHA-256 of count files, word hashes and digests of merged counts, checks of the values
of pairs and word numbers, and the SHA-256 of vectors that are compared for the drift. The digests of shards remain,
because the manifest contains them.
"""

import functools
import sys

import numpy as np
import pyarrow.parquet as pq

from bitcipher.counts import pairs, segment_digest, segment_ranks
from bitcipher.counts.digest import CountDigest
from bitcipher.files import hashed_files
from bitcipher.table import vector_files
from cluster.cli.main import main
from pipelines.merge import merge_segments, number_tables, row_stage, word_stages


class _EqualDigits(str):
    """Digits of a digest that are equal to any other."""

    __slots__ = ()

    def __ne__(self, other: object) -> bool:
        return False

    __hash__ = str.__hash__


class _NoDigest(CountDigest):
    """Digest whose sums are not computed."""

    def __add__(self, other: CountDigest) -> "CountDigest":
        return self

    def hex(self) -> str:
        """Return digits that are equal to any other."""
        return _EqualDigits("0" * 32)


def remove_checks() -> None:
    """Replace the checks by functions that do nothing."""
    _replace(pq, "ParquetWriter", functools.partial(_without, pq.ParquetWriter, "write_page_checksum"))
    _replace(pq, "ParquetFile", functools.partial(_without, pq.ParquetFile, "page_checksum_verification"))
    _replace(pq, "write_table", functools.partial(_without, pq.write_table, "write_page_checksum"))
    _replace(hashed_files.HashingStream, "write", lambda self, content: _write(self, content))
    _replace(pairs, "_check_block", lambda *arguments: None)
    for module in (segment_digest, segment_ranks, number_tables):
        _replace(module, "check_numbers", lambda numbers: numbers)
    for module, name in ((row_stage, "digest_pairs"), (row_stage, "digest_words"), (merge_segments, "digest_words")):
        _replace(module, name, lambda *arguments: _NoDigest())
    _replace(word_stages, "word_hashes", lambda words: np.zeros((len(words), 2), np.uint64))
    for name in ("check_sha256", "_compare"):
        _replace(vector_files, name, lambda *arguments: None)


def _replace(owner: object, name: str, replacement: object) -> None:
    """Set an attribute, which must exist: a check that was moved would otherwise be measured."""
    getattr(owner, name)
    setattr(owner, name, replacement)


def _without(make, name, *arguments, **options):
    options.pop(name, None)
    return make(*arguments, **options)


def _write(stream, content):
    stream._size += len(content)
    return stream._stream.write(content)


if __name__ == "__main__":
    remove_checks()
    sys.argv[0] = "bitcipher"
    main()

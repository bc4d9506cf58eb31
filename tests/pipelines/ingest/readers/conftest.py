"""Fixtures that compress and store sources, with other libraries than the readers use."""

import bz2
import gzip
import itertools
import lzma

import lz4.frame
import pyarrow as pa
import pytest

from pipelines.ingest.sources import Source, format_of

COMPRESS = {
    ".gz": gzip.compress,
    ".bz2": bz2.compress,
    ".xz": lzma.compress,
    ".lz4": lz4.frame.compress,
    ".zst": lambda content: pa.compress(content, "zstd", asbytes=True),
}


@pytest.fixture(scope="session")
def compress():
    def compress(ending, content):
        return COMPRESS[ending](content) if ending else content

    return compress


@pytest.fixture(scope="session")
def stored(tmp_path_factory):
    """Function that writes bytes to a named file and returns the source."""
    folder = tmp_path_factory.mktemp("sources")
    numbers = itertools.count()

    def stored(name, content):
        path = folder / f"{next(numbers)}-{name}"
        path.write_bytes(content)
        return Source(uri=str(path), size=len(content), format=format_of(name) or "parquet")

    return stored

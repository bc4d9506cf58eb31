"""`write`, which writes vectors in any of the file formats."""

import gzip
import os
import shutil
from collections.abc import Callable
from typing import IO, Any, cast

from bitcipher.errors import BitcipherError
from bitcipher.files import storage
from bitcipher.formats.registry import FORMATS, Format, get_format
from bitcipher.table.vector_table import VectorTable

# Bytes per copy: enough that the cost of a call does not matter.
COPY_BYTES = 8 << 20

# Levels above 6 take much longer, for files that are hardly smaller.
COMPRESSION_LEVEL = 6


def write(
    table: VectorTable,
    format: str,
    target: str | os.PathLike[str],
    advance: Callable[[int], None] = lambda rows: None,
) -> None:
    """Write vectors in the format of another library. Equal vectors give equal bytes.

    Args:
        table: the vectors.
        format: a name in `FORMATS`.
        target: the file or folder to write, as a local path or a URI that fsspec supports. It appears under its name
            only when it is complete.
        advance: progress callback, called with the number of rows written since the last call.

    Raises:
        BitcipherError: if there is no such format, it cannot represent a word, the target exists or cannot be
            written, or a vector holds a value that is not finite.

    >>> table = VectorTable(["cat", "<oov>"], [[0.1, 2], [0, 1]])
    >>> write(table, "word2vec", "memory://doctest/cat.txt")
    >>> storage.read_bytes("memory://doctest/cat.txt")
    b'2 2\\ncat 0.1 2.0\\n<oov> 0.0 1.0\\n'
    >>> storage.remove("memory://doctest/cat.txt")
    """
    file_format, target = get_format(format), os.fspath(target)
    storage.check_new(target)
    _check_words(table, format, file_format)
    table.norms  # noqa: B018 - raises for values that are not finite, which other libraries would accept
    file_format.write(table, target, advance)


def replace(table: VectorTable, format: str, target: str | os.PathLike[str]) -> None:
    """Write vectors in the format of one file, in place of an existing file; compressed if its name ends in .gz.

    Raises:
        BitcipherError: if the format cannot represent a word, or the target cannot be written.
    """
    target = os.fspath(target)
    with storage.temporary_folder(target) as folder:
        unfinished = storage.join(folder, "vectors")
        write(table, format, unfinished)
        with storage.reading(unfinished) as source, storage.writing(target) as file:
            if target.endswith(".gz"):
                # without a time and a name, so that equal vectors give equal bytes
                with gzip.GzipFile("", "wb", COMPRESSION_LEVEL, cast(Any, file), mtime=0) as stream:
                    shutil.copyfileobj(source, cast(IO[bytes], stream), COPY_BYTES)
            else:
                shutil.copyfileobj(source, file, COPY_BYTES)


def _check_words(table: VectorTable, name: str, file_format: Format) -> None:
    for row, word in enumerate(table.index_to_key):
        if file_format.refused.search(word):
            alternatives = [other for other, each in FORMATS.items() if not each.refused.search(word)]
            raise BitcipherError(
                f"The format {name} cannot represent the word {word!r} (row {row}): it would not be read back as one "
                f"word. Formats that can: {', '.join(alternatives)}."
            )

"""Writing a table in any of the formats: what is the same for all of them."""

import importlib
import os
from collections.abc import Callable

from bitcipher import storage
from bitcipher.errors import BitcipherError
from bitcipher.formats.registry import FORMATS, Format, find
from bitcipher.vectors import CipherVectors


def write(
    vectors: CipherVectors,
    format: str,
    target: str | os.PathLike[str],
    advance: Callable[[int], None] = lambda rows: None,
) -> None:
    """Write a table for another library; the same table gives the same bytes.

    Args:
        vectors: the table.
        format: a name of `FORMATS`.
        target: the file or folder to write, a local path or whatever fsspec reaches. It appears when it is whole.
        advance: told how many more rows are written, for a bar of progress.

    Raises:
        BitcipherError: if there is no such format, it cannot carry a word, something is at the target already, a
            vector holds what is not a number, or the target cannot be written.

    >>> vectors = CipherVectors(["cat", "<oov>"], [[0.1, 2], [0, 1]])
    >>> write(vectors, "word2vec", "memory://doctest/cat.txt")
    >>> storage.read_bytes("memory://doctest/cat.txt")
    b'2 2\\ncat 0.1 2.0\\n<oov> 0.0 1.0\\n'
    >>> storage.remove("memory://doctest/cat.txt")
    """
    chosen, target = find(format), os.fspath(target)
    if storage.exists(target):
        raise BitcipherError(f"{target} is already there: choose another name, or remove it first.")
    _check_words(vectors, format, chosen)
    vectors.norms  # noqa: B018 - refuses values that are not numbers, which other libraries would take
    module = importlib.import_module(f"bitcipher.formats.{chosen.module}")
    module.write(vectors, target, advance)


def _check_words(vectors: CipherVectors, name: str, format: Format) -> None:
    for row, word in enumerate(vectors.index_to_key):
        if format.refused.search(word):
            able = [other for other, each in FORMATS.items() if not each.refused.search(word)]
            raise BitcipherError(
                f"The format {name} cannot carry the word {word!r} (row {row}): it would not be read back as one word. "
                f"These formats can: {', '.join(able)}."
            )

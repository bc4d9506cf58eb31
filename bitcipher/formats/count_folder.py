"""Folder of counts: the vocabulary as a Parquet file, and co-occurrence matrices as SciPy's sparse `.npz` files."""

import os
from typing import NamedTuple

from scipy.sparse import save_npz

from bitcipher.cooccurrence.count_matrices import CountMatrices
from bitcipher.files import parquet_files, storage
from bitcipher.formats.row_blocks import Advance

VOCABULARY = "vocabulary.parquet"
SUM = "cooccurrence-sum.npz"
README = "README.txt"

_README = """\
Co-occurrence counts of version {build.version} of {build.uri}, written by bitcipher.

{vocabulary}
    The words in order of rank: word, count (occurrences) and passages (number of passages of at most 2,000 tokens that
    contain the word). All words outside the vocabulary share the entry <oov>. Row i of this file is row and column i of
    each matrix, numbered from 0.
{matrices}
All matrices are int64. Read them with scipy.sparse.load_npz, and the vocabulary with pyarrow.parquet.read_table or
pandas.read_parquet.
"""


class CountFile(NamedTuple):
    """File of a matrix.

    Attributes:
        name: name of the file.
        offset: offset of the pairs, or None for the sum over the window.
        text: content of the file, for the README.
    """

    name: str
    offset: int | None
    text: str


def write_counts(
    build: CountMatrices, target: str | os.PathLike[str], advance: Advance = lambda matrices: None
) -> None:
    """Write the vocabulary and the co-occurrence matrices of a build. Equal counts give equal matrix files.

    Memory holds one matrix at a time.

    Args:
        build: the build.
        target: the folder to write, as a local path or a URI that fsspec supports. It appears under its name only when
            it is complete.
        advance: progress callback, called with 1 after each matrix.

    Raises:
        BitcipherError: if the target exists or cannot be written, or if a file of the build is damaged.
    """
    target = os.fspath(target)
    storage.check_new(target)
    files = list_count_files(build)
    with storage.writing_folder(target) as folder:
        parquet_files.write_table(storage.join(folder, VOCABULARY), build.vocabulary)
        for file in files:
            with storage.writing(storage.join(folder, file.name)) as stream:
                save_npz(stream, build.cooccurrence(file.offset))
            advance(1)
        matrices = "".join(f"{file.name}\n    {file.text}\n" for file in files)
        with storage.writing(storage.join(folder, README)) as stream:
            stream.write(_README.format(build=build, vocabulary=VOCABULARY, matrices=matrices).encode())


def list_count_files(build: CountMatrices) -> list[CountFile]:
    """Return the matrix files of a build: one per positive offset, and the sum. Summed counts have only the sum."""
    offsets = [] if build.summed else range(1, build.window + 1)
    digits = max(2, len(str(build.window)))
    files = [
        CountFile(
            f"cooccurrence-offset-{offset:0{digits}d}.npz",
            offset,
            f"Entry (i, j): how often word j occurs {offset} to the right of word i. Its transpose: offset -{offset}.",
        )
        for offset in offsets
    ]
    text = f"Entry (i, j): how often word j occurs at most {build.window} to the left or right of word i (symmetric)."
    return [*files, CountFile(SUM, None, text)]

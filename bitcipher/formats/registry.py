"""Registry of the file formats: their modules, how to recognize them, and the words that they cannot represent."""

import re
from importlib import import_module
from typing import Any, NamedTuple

from bitcipher.errors import BitcipherError
from bitcipher.formats.row_blocks import Advance
from bitcipher.table.vector_table import VectorTable

# Patterns of the words that a format cannot represent.
# A space separates a word from its values, and readers written in C end words at all of these characters.
SPACES = re.compile(r"^$|[\0 \t\n\v\f\r]")
# `str.splitlines` breaks lines at these characters.
LINE_BREAKS = re.compile("[\n\v\f\r\x1c-\x1e\x85\u2028\u2029]")
TABS_AND_LINE_BREAKS = re.compile(f"^$|\t|{LINE_BREAKS.pattern}")
# A text file with NUL characters is refused, because it can be UTF-16.
NUL_AND_LINE_BREAKS = re.compile(f"\0|{LINE_BREAKS.pattern}")
EMPTY = re.compile(r"^$")
NONE = re.compile(r"(?!)")


class Format(NamedTuple):
    """A file format with its writer and reader, which are imported when they are called.

    Attributes:
        module: module of `bitcipher.formats` with the functions `write(table, target, advance)` and, if `can_read`,
            `read(uri)`.
        opened_by: libraries that open the format.
        refused: pattern of the words that the format cannot represent.
        can_read: whether the module has the function `read`.
        marker: path inside a folder that identifies the format, None for formats without one.
        magic: first bytes of a file that identify the format, None for formats without them.
    """

    module: str
    opened_by: str
    refused: re.Pattern[str]
    can_read: bool = True
    marker: str | None = None
    magic: bytes | None = None

    def write(self, table: VectorTable, target: str, advance: Advance) -> None:
        """Write a table to a file or folder; see `bitcipher.formats.writer.write`."""
        self._import().write(table, target, advance)

    def read(self, uri: str) -> VectorTable:
        """Read a file or folder; see `bitcipher.formats.reader.read`."""
        return self._import().read(uri)

    def _import(self) -> Any:
        return import_module(f"bitcipher.formats.{self.module}")


# All formats, in the order in which `bitcipher export --help` lists them and `read` looks for their markers.
FORMATS = {
    "word2vec": Format("word2vec", "gensim, spacy init vectors", SPACES),
    "word2vec-binary": Format("word2vec_binary", "gensim, with binary=True", SPACES),
    "glove": Format("glove", "readers of GloVe files", SPACES),
    "fasttext": Format("fasttext", "fastText's -pretrainedVectors", SPACES),
    "spacy": Format("spacy_pipeline", "spacy.load", EMPTY, marker="vocab/vectors"),
    "sentence-transformers": Format("static_model", "SentenceTransformer, model2vec", NONE, marker="tokenizer.json"),
    "huggingface": Format("static_model", "AutoTokenizer, safetensors", NONE),
    "numpy": Format("numpy_folder", "numpy.load", NUL_AND_LINE_BREAKS, marker="vectors.npy"),
    "parquet": Format("parquet", "Arrow, pandas, Polars, DuckDB", NONE, magic=b"PAR1"),
    "projector": Format("projector", "TensorFlow Projector", TABS_AND_LINE_BREAKS, can_read=False),
    "embedding-atlas": Format("embedding_atlas", "embedding-atlas", NONE),
}

# Names that are no formats of vectors but that users expect, with what to use instead.
_ALTERNATIVES = {
    "gensim": "gensim's own files are pickles, which can run code when they are opened; write word2vec-binary, which "
    "gensim opens with KeyedVectors.load_word2vec_format(path, binary=True)",
    "counts": "it is the format of a build, not of vectors; write it with `bitcipher export BUILD --format counts`",
    "model2vec": "write sentence-transformers, whose folder model2vec opens too",
}


def get_format(name: str) -> Format:
    """Return a format by name.

    Raises:
        BitcipherError: if there is no such format.
    """
    if name in _ALTERNATIVES:
        raise BitcipherError(f"There is no format {name!r} of vectors: {_ALTERNATIVES[name]}.")
    if name not in FORMATS:
        raise BitcipherError(f"There is no format {name!r}: choose from {', '.join(FORMATS)}.")
    return FORMATS[name]

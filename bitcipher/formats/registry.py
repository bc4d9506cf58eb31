"""Registry of the file formats: their names, the libraries that open them, and the words they cannot represent."""

import re
from typing import NamedTuple

from bitcipher.errors import BitcipherError

# A space separates a word from its values, and readers written in C split at all of these characters.
SPACES = re.compile(r"^$|[ \t\n\v\f\r]")
# `str.splitlines` breaks lines at these characters.
LINE_BREAKS = re.compile("[\n\v\f\r\x1c-\x1e\x85\u2028\u2029]")
TABS_AND_LINE_BREAKS = re.compile(f"^$|\t|{LINE_BREAKS.pattern}")
EMPTY = re.compile(r"^$")
NONE = re.compile(r"(?!)")


class Format(NamedTuple):
    """A file format.

    Attributes:
        module: module of `bitcipher.formats` that writes it.
        writes: short description of the result.
        opened_by: libraries that open it.
        refused: pattern of the words that it cannot represent.
        can_read: whether `read` supports it.
    """

    module: str
    writes: str
    opened_by: str
    refused: re.Pattern[str]
    can_read: bool


# In the order of the command's help.
FORMATS = {
    "word2vec": Format("word2vec", "text with a header", "gensim, spacy init vectors", SPACES, True),
    "word2vec-binary": Format("word2vec_binary", "a binary file", "gensim, with binary=True", SPACES, True),
    "glove": Format("glove", "text without a header", "readers of GloVe files", SPACES, True),
    "fasttext": Format("word2vec", "text, as word2vec", "fastText's -pretrainedVectors", SPACES, True),
    "spacy": Format("spacy_pipeline", "a folder", "spacy.load", EMPTY, True),
    "sentence-transformers": Format("static_model", "a folder", "SentenceTransformer, model2vec", NONE, True),
    "huggingface": Format("static_model", "the same folder", "AutoTokenizer, safetensors", NONE, True),
    "numpy": Format("numpy_folder", "a folder", "numpy.load", LINE_BREAKS, True),
    "parquet": Format("parquet", "a Parquet file", "Arrow, pandas, Polars, DuckDB", NONE, True),
    "projector": Format("projector", "a folder", "TensorFlow Projector", TABS_AND_LINE_BREAKS, False),
    "embedding-atlas": Format("embedding_atlas", "a Parquet file for a map", "embedding-atlas", NONE, True),
}

# Formats that users expect, and their replacements.
_ALTERNATIVES = {
    "gensim": "gensim's own files are pickles, which may run code when they are opened; write word2vec-binary, which "
    "gensim opens with KeyedVectors.load_word2vec_format(path, binary=True)",
    "model2vec": "write sentence-transformers, whose folder model2vec opens too",
}


def get_format(name: str) -> Format:
    """Return a format by name.

    Raises:
        BitcipherError: if there is no such format.
    """
    if name in _ALTERNATIVES:
        raise BitcipherError(f"There is no format {name!r}: {_ALTERNATIVES[name]}.")
    if name not in FORMATS:
        raise BitcipherError(f"There is no format {name!r}: choose from {', '.join(FORMATS)}.")
    return FORMATS[name]

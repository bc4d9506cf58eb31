"""The formats that there are: what each is called, what opens it, and which words it cannot carry."""

import re
from typing import NamedTuple

from bitcipher.errors import BitcipherError

# Between a word and its numbers stands a space, and readers written in C split at all of these.
SPACES = re.compile(r"^$|[ \t\n\v\f\r]")
# Where `str.splitlines` breaks a line.
LINE_BREAKS = re.compile("[\n\v\f\r\x1c-\x1e\x85\u2028\u2029]")
TABS_AND_LINE_BREAKS = re.compile(f"^$|\t|{LINE_BREAKS.pattern}")
EMPTY = re.compile(r"^$")
NONE = re.compile(r"(?!)")


class Format(NamedTuple):
    """One format.

    Attributes:
        module: the module of `bitcipher.formats` that writes it.
        writes: what lies at the target afterwards, in a few words.
        opened_by: what opens it.
        refused: matches the words that it cannot carry.
        is_read: whether `read` takes it.
    """

    module: str
    writes: str
    opened_by: str
    refused: re.Pattern[str]
    is_read: bool


# In the order in which help shows them.
FORMATS = {
    "word2vec": Format("word2vec", "text with a header", "gensim, spacy init vectors", SPACES, True),
    "word2vec-binary": Format("word2vec_binary", "a binary file", "gensim, with binary=True", SPACES, True),
    "glove": Format("glove", "text without a header", "whatever reads GloVe's files", SPACES, True),
    "fasttext": Format("word2vec", "text, as word2vec", "fastText's -pretrainedVectors", SPACES, True),
    "spacy": Format("spacy_pipeline", "a folder", "spacy.load", EMPTY, True),
    "sentence-transformers": Format("static_model", "a folder", "SentenceTransformer, model2vec", NONE, True),
    "huggingface": Format("static_model", "the same folder", "AutoTokenizer, safetensors", NONE, True),
    "numpy": Format("numpy_folder", "a folder", "numpy.load", LINE_BREAKS, True),
    "parquet": Format("parquet", "one table", "Arrow, pandas, Polars, DuckDB", NONE, True),
    "projector": Format("projector", "a folder", "TensorFlow's projector", TABS_AND_LINE_BREAKS, False),
    "embedding-atlas": Format("embedding_atlas", "Parquet for a map", "embedding-atlas", NONE, True),
}

# What people will ask for, and what serves them.
_INSTEAD = {
    "gensim": "gensim's own files are pickles, which may run code when they are opened; write word2vec-binary, which "
    "gensim opens by KeyedVectors.load_word2vec_format(path, binary=True)",
    "model2vec": "write sentence-transformers, whose folder model2vec opens too",
}


def find(name: str) -> Format:
    """The format of that name.

    Raises:
        BitcipherError: if there is none.
    """
    if name in _INSTEAD:
        raise BitcipherError(f"There is no format {name!r}: {_INSTEAD[name]}.")
    if name not in FORMATS:
        raise BitcipherError(f"There is no format {name!r}: there are {', '.join(FORMATS)}.")
    return FORMATS[name]

"""Folder of a spaCy pipeline that holds only vectors, for `spacy.load` and for spaCy's training."""

import os
import tempfile
from typing import TYPE_CHECKING, Any

import numpy as np

from bitcipher.errors import BitcipherError
from bitcipher.files import storage
from bitcipher.formats.array_reader import read_array
from bitcipher.formats.row_blocks import Advance
from bitcipher.formats.table_builder import check_table
from bitcipher.formats.tokenizer_name import tokenizer_name
from bitcipher.table.vector_table import VectorTable

if TYPE_CHECKING:
    from spacy.language import Language


def write(table: VectorTable, target: str, advance: Advance) -> None:
    """Write the folder that `spacy init vectors` would make from a text file, with the rows in order of rank."""
    pipeline = _make_pipeline(table)
    with storage.writing_folder(target) as folder:
        # spaCy writes to local disks only.
        if (path := storage.local_path(folder)) is not None:
            os.makedirs(path)
            pipeline.to_disk(path)
        else:
            with tempfile.TemporaryDirectory() as path:
                pipeline.to_disk(path)
                _upload(path, folder)
    advance(len(table))


def _make_pipeline(table: VectorTable) -> "Language":
    import spacy
    from spacy.vectors import Vectors

    # spaCy's English tokenizer gives the same words again if it tokenized the corpus. For words of other tokenizers,
    # the language is "xx" (multi-language).
    pipeline = spacy.blank("en" if tokenizer_name(table).startswith("spacy") else "xx")
    for word in table.index_to_key:
        pipeline.vocab.strings.add(word)
    rows = np.asarray(table.vectors)
    pipeline.vocab.vectors = Vectors(strings=pipeline.vocab.strings, data=rows, keys=table.index_to_key)
    pipeline.vocab.vectors.name = "bitcipher"
    return pipeline


def _upload(path: str, folder: str) -> None:
    for name in storage.list_files(path):
        with open(os.path.join(path, name), "rb") as source, storage.writing(storage.join(folder, name)) as stream:
            while data := source.read(1 << 24):
                stream.write(data)


def read(uri: str) -> VectorTable:
    """Read the vectors of a pipeline on a local disk. If several words share a vector, each word gets a copy.

    Raises:
        BitcipherError: if the folder is not local, has no vectors, or is damaged.
    """
    import srsly
    from spacy.strings import StringStore

    folder = storage.local_path(storage.join(uri, "vocab"))
    if folder is None:
        raise BitcipherError(f"{uri} is not on a local disk: copy the pipeline here, then read it.")
    try:
        strings = StringStore().from_disk(os.path.join(folder, "strings.json"))
        keys: Any = srsly.read_msgpack(os.path.join(folder, "key2row"))
        key_to_row = dict(keys)
        rows = read_array(os.path.join(folder, "vectors"))
        entries = sorted(key_to_row.items(), key=lambda entry: (entry[1], strings[entry[0]]))
        words = [strings[key] for key, _ in entries]
        bad = next((entry for entry in entries if type(entry[1]) is not int or not 0 <= entry[1] < len(rows)), None)
        if bad:
            raise BitcipherError(
                f"{uri} gives the word {strings[bad[0]]!r} the row {bad[1]}, but its table has {len(rows):,} rows, "
                "numbered from 0: write the pipeline again."
            )
        vectors = rows[[row for _, row in entries]]
    # OverflowError: a key that is no 64-bit hash.
    except (OSError, ValueError, LookupError, AttributeError, TypeError, MemoryError, OverflowError) as error:
        raise BitcipherError(f"{uri} holds no readable word vectors: {error}.") from None
    return check_table(uri, "spacy", words, vectors)

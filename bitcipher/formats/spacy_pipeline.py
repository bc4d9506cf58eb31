"""The folder of a spaCy pipeline that holds nothing but vectors: what `spacy.load` opens, and training starts from."""

import os
import tempfile
from typing import TYPE_CHECKING

import numpy as np

from bitcipher import storage
from bitcipher.errors import BitcipherError
from bitcipher.formats.row_blocks import Advance, new_folder, tokenizer_of
from bitcipher.formats.table_builder import check_numbers
from bitcipher.vectors import CipherVectors

if TYPE_CHECKING:
    from spacy.language import Language


def write(vectors: CipherVectors, target: str, advance: Advance) -> None:
    """Write the folder, as `spacy init vectors` does of a text file, but with the rows in order of rank."""
    pipeline = _pipeline(vectors)
    with new_folder(target) as folder:
        try:
            # spaCy writes to this machine's disks only.
            if (path := storage.local_path(folder)) is not None:
                os.makedirs(path)
                pipeline.to_disk(path)
            else:
                with tempfile.TemporaryDirectory() as path:
                    pipeline.to_disk(path)
                    _upload(path, folder)
        except OSError as error:
            raise BitcipherError(f"Cannot write {target}: {error.strerror or error}.") from error
    advance(len(vectors))


def _pipeline(vectors: CipherVectors) -> "Language":
    import spacy
    from spacy.vectors import Vectors

    # What spaCy's English rules have cut up finds its words by those rules; all else by those of no language.
    pipeline = spacy.blank("en" if tokenizer_of(vectors).startswith("spacy") else "xx")
    for word in vectors.index_to_key:
        pipeline.vocab.strings.add(word)
    rows = np.asarray(vectors.vectors)
    pipeline.vocab.vectors = Vectors(strings=pipeline.vocab.strings, data=rows, keys=vectors.index_to_key)
    pipeline.vocab.vectors.name = "bitcipher"
    return pipeline


def _upload(path: str, folder: str) -> None:
    for name in storage.list_files(path):
        with open(os.path.join(path, name), "rb") as source, storage.writing(storage.join(folder, name)) as stream:
            while data := source.read(1 << 24):
                stream.write(data)


def read(uri: str) -> CipherVectors:
    """Read the vectors of a pipeline on this machine; of words that share a row, each gets it.

    Raises:
        BitcipherError: if it lies elsewhere, holds no table of words, or is damaged.
    """
    import srsly
    from spacy.strings import StringStore

    folder = storage.local_path(storage.join(uri, "vocab"))
    if folder is None:
        raise BitcipherError(f"{uri} is not on this machine: copy the pipeline here, then read it.")
    try:
        strings = StringStore().from_disk(os.path.join(folder, "strings.json"))
        rows_of = srsly.read_msgpack(os.path.join(folder, "key2row"))
        table = np.load(os.path.join(folder, "vectors"), allow_pickle=False)
        rows = sorted(rows_of.items(), key=lambda pair: (pair[1], strings[pair[0]]))
        words = [strings[key] for key, _ in rows]
        vectors = CipherVectors(words, table[[row for _, row in rows]], manifest={"read_from": "spacy"})
    except (OSError, ValueError, KeyError, IndexError, AttributeError, TypeError, MemoryError) as error:
        raise BitcipherError(f"{uri} holds no vectors of words that can be read: {error}.") from None
    check_numbers(vectors, uri)
    return vectors

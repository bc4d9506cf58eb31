"""All keys of the documents of a file, one table per kind of duplicates."""

from typing import NamedTuple
from unicodedata import unidata_version

import numpy as np
import pyarrow as pa

from bitcipher.errors import BitcipherError
from pipelines.duplicates.exact_keys import (
    DOCUMENT_KEYS,
    HOST_LINE_KEYS,
    PARAGRAPH_KEYS,
    compute_priorities,
    document_keys,
    host_line_keys,
    paragraph_keys,
)
from pipelines.duplicates.near_keys import NEAR_KEYS, near_keys
from pipelines.duplicates.options import DuplicateOptions
from pipelines.duplicates.word_hashes import as_text, hash_words

# Increase this number when a change of the normal form, of hashes or of signatures changes the keys of a text.
KEYS_VERSION = 1

# Bits of a document id that are the row in its file; the upper bits are the number of the file.
ROW_BITS = 32


class KeyTables(NamedTuple):
    """Keys of documents, one table per kind. Tables of kinds that are not searched are empty."""

    documents: pa.Table
    """`DOCUMENT_KEYS`, one row per document with at least one word."""
    paragraphs: pa.Table
    """`PARAGRAPH_KEYS`, one row per paragraph that is long enough."""
    host_lines: pa.Table
    """`HOST_LINE_KEYS`, one row per line with at least one word, of documents with a host."""
    near: pa.Table
    """`NEAR_KEYS`, one row per band of each document with at least one shingle."""


def document_id(file: int, row: int = 0) -> int:
    """Return the id of a document.

    Args:
        file: number of its file. Copies with equal text are kept by the smallest id, so number the files of a run in an
            order that depends on their content only, after the files that are already published.
        row: row in the file.
    """
    return file << ROW_BITS | row


def compute_keys(
    texts: pa.Array | pa.ChunkedArray,
    first_document: int,
    options: DuplicateOptions,
    hosts: pa.Array | pa.ChunkedArray | None = None,
) -> KeyTables:
    """Return the keys of consecutive documents of a file.

    Args:
        texts: (documents,) strings. Nulls are documents without words.
        first_document: id of the first document; the following have consecutive ids.
        options: which keys to compute.
        hosts: (documents,) strings, the host of each document, or null. Required for `options.host_lines`.

    Raises:
        BitcipherError: if hosts are required and missing.
    """
    if options.host_lines and hosts is None:
        raise BitcipherError("`host_lines` needs the host of each document, and these documents have none.")
    array = as_text(texts)
    ids = np.arange(len(array), dtype=np.uint64) + np.uint64(first_document)
    priorities = compute_priorities(array)
    host_names = as_text(hosts) if hosts is not None else None
    documents, paragraphs, host_lines, near = [], [], [], []
    if options.documents or options.paragraphs or options.host_lines:
        for hashed in hash_words(array, fold_numbers=False):
            own = slice(hashed.first, hashed.first + len(hashed.document_ends))
            if options.documents:
                documents.append(document_keys(hashed, ids[own], priorities[own]))
            if options.paragraphs:
                min_words = options.paragraphs.min_words
                paragraphs.append(paragraph_keys(hashed, ids[own], priorities[own], min_words))
            if options.host_lines and host_names is not None:
                host_lines.append(host_line_keys(hashed, ids[own], host_names[own]))
    if options.near:
        for hashed in hash_words(array, fold_numbers=True):
            own = slice(hashed.first, hashed.first + len(hashed.document_ends))
            near.append(near_keys(hashed, ids[own], priorities[own], options.near))
    return KeyTables(
        _concatenate(documents, DOCUMENT_KEYS),
        _concatenate(paragraphs, PARAGRAPH_KEYS),
        _concatenate(host_lines, HOST_LINE_KEYS),
        _concatenate(near, NEAR_KEYS),
    )


def fingerprint() -> dict[str, str | int]:
    """Return the values that, besides the options, determine the keys of a text.

    Keys with different fingerprints cannot be compared.
    """
    return {"keys_version": KEYS_VERSION, "unicode": unidata_version}


def _concatenate(tables: list[pa.Table], schema: pa.Schema) -> pa.Table:
    return pa.concat_tables([schema.empty_table(), *tables]).combine_chunks()

"""Keys of exact duplicates: hashes of the words of documents, of paragraphs, and of lines with their host."""

from hashlib import blake2b

import numpy as np
import pyarrow as pa

from pipelines.duplicates.word_hashes import HashedWords, extend_hash, hash_sequences, mix

DOCUMENT_KEYS = pa.schema(
    {"key": pa.uint64(), "key_low": pa.uint64(), "document": pa.uint64(), "priority": pa.uint64()}
)
PARAGRAPH_KEYS = pa.schema(
    {"key": pa.uint64(), "document": pa.uint64(), "position": pa.uint32(), "priority": pa.uint64()}
)
HOST_LINE_KEYS = pa.schema({"key": pa.uint64(), "document": pa.uint64(), "position": pa.uint32()})

# Seeds of the hashes of sequences of words.
_DOCUMENT, _DOCUMENT_LOW, _LINE = np.uint64(1), np.uint64(2), np.uint64(3)


def compute_priorities(texts: pa.LargeStringArray) -> np.ndarray:
    """Return the BLAKE2b-64 of the bytes of each document, (documents,) uint64.

    The kept copy is that with the smallest priority. Its choice therefore depends on the texts alone, not on their
    order and files.
    """
    digests = [blake2b(text, digest_size=8).digest() for text in texts.cast(pa.large_binary()).to_pylist()]
    return np.frombuffer(b"".join(digests), "<u8").astype(np.uint64, copy=False)


def document_keys(hashed: HashedWords, documents: np.ndarray, priorities: np.ndarray) -> pa.Table:
    """Return the keys of documents, `DOCUMENT_KEYS`: 128 bits of the hash of all words.

    With 64 bits, two of 10^10 documents would probably have the same key. Documents without words have no key.

    Args:
        hashed: words of the documents.
        documents: (documents,) uint64 ids.
        priorities: (documents,) uint64.
    """
    has_words = np.diff(hashed.word_ends, prepend=0) > 0
    keys = [hash_sequences(hashed.words, hashed.word_ends, seed) for seed in (_DOCUMENT, _DOCUMENT_LOW)]
    columns = [column[has_words] for column in (*keys, documents, priorities)]
    return pa.table(columns, schema=DOCUMENT_KEYS)


def paragraph_keys(hashed: HashedWords, documents: np.ndarray, priorities: np.ndarray, min_words: int) -> pa.Table:
    """Return the keys of paragraphs with at least `min_words` words, `PARAGRAPH_KEYS`: the hash of their words.

    Args:
        hashed: words of the documents.
        documents: (documents,) uint64 ids.
        priorities: (documents,) uint64.
        min_words: minimum number of words.
    """
    keys, rows, positions = _line_keys(hashed, min_words)
    return pa.table([keys, documents[rows], positions, priorities[rows]], schema=PARAGRAPH_KEYS)


def host_line_keys(hashed: HashedWords, documents: np.ndarray, hosts: pa.LargeStringArray) -> pa.Table:
    """Return the keys of lines with at least one word, `HOST_LINE_KEYS`: a hash of the host and of the words.

    Args:
        hashed: words of the documents.
        documents: (documents,) uint64 ids.
        hosts: (documents,) host of each document. Documents whose host is null or empty have no keys.
    """
    names = [(host or "").encode() for host in hosts.to_pylist()]
    digests = [blake2b(name, digest_size=8).digest() for name in names]
    host_hashes = np.frombuffer(b"".join(digests), "<u8").astype(np.uint64, copy=False)
    keys, rows, positions = _line_keys(hashed, min_words=1)
    keys = mix(extend_hash(keys, host_hashes[rows]))
    has_host = np.array([name != b"" for name in names], bool)[rows]
    return pa.table([keys[has_host], documents[rows[has_host]], positions[has_host]], schema=HOST_LINE_KEYS)


def _line_keys(hashed: HashedWords, min_words: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the hash, the document and the position in its document of each line with at least `min_words` words."""
    kept = np.flatnonzero(np.diff(hashed.line_ends, prepend=0) >= min_words)
    keys = hash_sequences(hashed.words, hashed.line_ends, _LINE)[kept]
    rows = np.searchsorted(hashed.document_ends, kept, "right")
    first_lines = np.concatenate([[0], hashed.document_ends[:-1]])
    return keys, rows, (kept - first_lines[rows]).astype(np.uint32)

"""Documents as token shards: flat files of tokens that training maps into memory; README.md tells their format."""

import hashlib
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from typing import IO

import numpy as np
from tokenizers import Tokenizer

from bitcipher import storage
from bitcipher.errors import BitcipherError
from training.data.special_tokens import special_tokens
from training.data.tokenizer_files import text_only, tokenizer_json, vocabulary_size

FORMAT = "bitcipher-text/1"
PARTS = ("train", "validation")
END_DTYPE = np.dtype("<i8")
# Documents are encoded a few at a time: an encoding takes some hundred bytes a token.
BATCH_CHARACTERS = 1 << 20


@dataclass(frozen=True)
class PartNote:
    """What a shard holds of one part."""

    tokens: int
    """with the end token of each document"""
    documents: int
    """those that have tokens"""
    tokens_sha256: str
    """of the file of tokens"""
    ends_sha256: str
    """of the file of ends"""


@dataclass(frozen=True)
class ShardNote:
    """What `write_shard` wrote; `finish_text` takes the notes of all shards."""

    name: str
    """the shard's own name"""
    train: PartNote
    """documents to learn from"""
    validation: PartNote
    """documents held back"""


def token_dtype(vocabulary: int) -> np.dtype:
    """The numbers that ids of a vocabulary are stored as, little-endian: uint16, or uint32 from 65,536 tokens on."""
    return np.dtype("<u2" if vocabulary <= np.iinfo(np.uint16).max else "<u4")


def tokens_file(part: str, name: str) -> str:
    """The file name of a shard's tokens."""
    return f"{part}-{name}.tokens"


def ends_file(part: str, name: str) -> str:
    """The file name of a shard's ends of documents."""
    return f"{part}-{name}.ends"


class _PartWriter:
    """Two growing files, with their digests."""

    def __init__(self, tokens: IO[bytes], ends: IO[bytes], dtype: np.dtype):
        self._files = {tokens: hashlib.sha256(), ends: hashlib.sha256()}
        self._tokens, self._ends, self._dtype = tokens, ends, dtype
        self._length = self._documents = 0

    def write(self, rows: list[list[int]]) -> None:
        lengths = np.array([len(row) for row in rows], END_DTYPE)
        self._append(
            self._tokens, np.concatenate([np.empty(0, self._dtype), *(np.array(r, self._dtype) for r in rows)])
        )
        self._append(self._ends, self._length + np.cumsum(lengths, dtype=END_DTYPE))
        self._length += int(lengths.sum())
        self._documents += len(rows)

    def _append(self, file: IO[bytes], values: np.ndarray) -> None:
        content = values.tobytes()
        file.write(content)
        self._files[file].update(content)

    def note(self) -> PartNote:
        digests = (digest.hexdigest() for digest in self._files.values())
        return PartNote(self._length, self._documents, *digests)


def write_shard(
    folder: str, name: str, documents: Iterable[str], tokenizer: Tokenizer, validation_share: float
) -> ShardNote:
    """Write documents as tokens, each followed by the end token; those without any token are left out.

    A document's own text decides its part, so that it does not depend on the others, and copies stay together. Special
    tokens that a text seems to hold are text.

    Args:
        folder: a path or URI.
        name: of this shard: shards are read in the order of their names.
        documents: read once; some megabytes are in memory at a time.
        tokenizer: which has a token that ends a text.
        validation_share: of all documents, from 0 to 1.

    Raises:
        BitcipherError: if the share is another number, a document is no valid Unicode, or files cannot be written.
    """
    if not 0 <= validation_share <= 1:
        raise BitcipherError(f"The share of documents for validation is {validation_share}: it must be from 0 to 1.")
    dtype = token_dtype(vocabulary_size(tokenizer))
    end = special_tokens(tokenizer).end
    encoder = text_only(tokenizer)
    with ExitStack() as stack:
        writers = [
            _PartWriter(*(stack.enter_context(storage.writing(storage.join(folder, file))) for file in files), dtype)
            for files in [(tokens_file(part, name), ends_file(part, name)) for part in PARTS]
        ]
        for batch in _batches(documents):
            rows: list[list[list[int]]] = [[], []]
            for document, encoding in zip(batch, _encode(encoder, batch, name), strict=True):
                if ids := encoding.ids:
                    rows[is_validation(document, validation_share)].append([*ids, end])
            for writer, of_part in zip(writers, rows, strict=True):
                writer.write(of_part)
    return ShardNote(name, *(writer.note() for writer in writers))


def is_validation(document: str, share: float) -> bool:
    """Whether a document is held back for validation, by a hash of its text."""
    digest = hashlib.blake2b(document.encode(), digest_size=8).digest()
    return int.from_bytes(digest, "little") < share * 2**64


def _batches(documents: Iterable[str]) -> Iterator[list[str]]:
    batch: list[str] = []
    characters = 0
    for document in documents:
        batch.append(document)
        characters += len(document)
        if characters >= BATCH_CHARACTERS:
            yield batch
            batch, characters = [], 0
    yield batch


def _encode(encoder: Tokenizer, batch: list[str], name: str) -> list:
    try:
        return encoder.encode_batch_fast(batch, add_special_tokens=False)
    except (TypeError, UnicodeEncodeError):
        broken = next((text for text in batch if not _is_unicode(text)), None)
        if broken is None:
            raise
        raise BitcipherError(
            f"A document of shard {name} is not valid Unicode (it has half a surrogate pair) and begins "
            f"{broken[:40]!a}: mend it or leave it out."
        ) from None


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def finish_text(folder: str, notes: Iterable[ShardNote], tokenizer: Tokenizer) -> None:
    """Write `tokenizer.json`, and last `text.json`, which makes the shards a text that `TokenText.open` opens.

    Args:
        folder: where the shards are.
        notes: of all shards, in any order.
        tokenizer: with which they were written.

    Raises:
        BitcipherError: if no document is there to train on, or files cannot be written.
    """
    notes = sorted(notes, key=lambda note: note.name)
    if len({note.name for note in notes}) < len(notes):
        raise ValueError("Two shards have the same name.")
    if not any(note.train.documents for note in notes):
        held_back = sum(note.validation.documents for note in notes)
        raise BitcipherError(
            f"There is no document to train on in {folder}, and {held_back} for validation: give more text."
        )
    content = tokenizer_json(tokenizer)
    with storage.writing(storage.join(folder, "tokenizer.json")) as stream:
        stream.write(content)
    parts = {part: [{"name": note.name, **asdict(getattr(note, part))} for note in notes] for part in PARTS}
    storage.write_json(
        storage.join(folder, "text.json"),
        {
            "format": FORMAT,
            "dtype": token_dtype(vocabulary_size(tokenizer)).name,
            "tokenizer_sha256": hashlib.sha256(content).hexdigest(),
            **parts,
        },
    )

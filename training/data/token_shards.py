"""Writer of token shards: flat files of tokens that training maps into memory. README.md describes the format."""

import hashlib
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from itertools import chain
from typing import IO, Annotated, Literal

import numpy as np
from pydantic import BeforeValidator
from tokenizers import Encoding, Tokenizer

from bitcipher.errors import BitcipherError
from bitcipher.files import json_files, storage
from bitcipher.files.records import Record
from pipelines.ingest.held_out import drop_held_out, is_drawn
from pipelines.tokenizers.tokenizer_json import vocab_size
from training.data.held_out import HELD_OUT
from training.data.special_tokens import special_tokens
from training.data.tokenizer_files import plain_text_tokenizer, tokenizer_json

FORMAT = "bitcipher-text/2"
METADATA = "text.json"
TOKENIZER = "tokenizer.json"
SPLITS = ("train", "validation")
END_DTYPE = np.dtype("<i8")
# Minimum number of characters of a part of a source, which has a shard of its own.
PART_CHARACTERS = 1 << 26
# Minimum number of characters of a batch of documents. All encodings of a batch are in memory, and an encoding takes
# hundreds of bytes per token.
BATCH_CHARACTERS = 1 << 20


class SplitInfo(Record):
    """Contents of one split of a shard."""

    tokens: int
    """Number of tokens, including the end token of each document."""
    documents: int
    """Number of documents with at least one token."""
    tokens_sha256: str
    """SHA-256 of the tokens file."""
    ends_sha256: str
    """SHA-256 of the file of document ends."""


class ShardInfo(Record):
    """Contents of a shard, as returned by `write_shard`."""

    name: str
    """Name of the shard."""
    train: SplitInfo
    """Training split."""
    validation: SplitInfo
    """Validation split."""
    held_out_documents: int = 0
    """Number of documents that were left out, because other sources hold them out."""


class NamedSplitInfo(SplitInfo):
    """One split of a shard in the metadata of a dataset."""

    name: str
    """Name of the shard."""


Splits = Annotated[
    tuple[NamedSplitInfo, ...], BeforeValidator(lambda value: tuple(value) if isinstance(value, list) else value)
]


class DatasetMetadata(Record):
    """Metadata of a dataset; stored as `text.json`."""

    format: Literal["bitcipher-text/2"] = FORMAT
    dtype: Literal["uint16", "uint32"]
    """Type of the token ids, little-endian."""
    tokenizer_sha256: str
    """SHA-256 of tokenizer.json."""
    train: Splits
    """Training splits of the shards, in reading order."""
    validation: Splits
    """Validation splits of the shards, in reading order."""
    held_out_sha256: str | None
    """SHA-256 of the digests of held-out documents; None if there is no such file."""
    held_out_sources: int
    """Number of sources that were left out, because they are also validation sources."""
    held_out_documents: int
    """Number of documents of the other sources that were left out, because they are also in validation sources."""


def token_dtype(n_tokens: int) -> np.dtype:
    """Return the little-endian type of token ids: uint16, or uint32 if there are 65,536 or more tokens."""
    return np.dtype("<u2" if n_tokens <= np.iinfo(np.uint16).max else "<u4")


def tokens_file(split: str, name: str) -> str:
    """Return the name of the tokens file of a shard."""
    return f"{split}-{name}.tokens"


def ends_file(split: str, name: str) -> str:
    """Return the name of the file of a shard's document ends."""
    return f"{split}-{name}.ends"


def part_name(source: str, part: int) -> str:
    """Return the name of the shard of a part of a source. The names of the parts of a source sort in reading order."""
    return f"{source}-{part:06d}"


def source_of_shard(shard: str) -> str:
    """Return the name of the source of a shard, from a name that `part_name` returned."""
    return shard.partition("-")[0]


def split_parts(documents: Iterable[str]) -> Iterator[Iterator[str]]:
    """Yield an iterator over the documents of each part: the next ones with at least `PART_CHARACTERS` characters.

    Exhaust each iterator before taking the next one.
    """
    documents = iter(documents)
    for first in documents:
        yield _take_part(chain([first], documents))


def _take_part(documents: Iterator[str]) -> Iterator[str]:
    n_characters = 0
    for document in documents:
        yield document
        n_characters += len(document)
        if n_characters >= PART_CHARACTERS:
            return


class _SplitWriter:
    """Writer of the two files of a split, which also computes their digests."""

    def __init__(self, tokens: IO[bytes], ends: IO[bytes], dtype: np.dtype):
        self._digests = {tokens: hashlib.sha256(), ends: hashlib.sha256()}
        self._tokens, self._ends, self._dtype = tokens, ends, dtype
        self._n_tokens = self._n_documents = 0

    def write(self, rows: list[list[int]]) -> None:
        lengths = np.array([len(row) for row in rows], END_DTYPE)
        tokens = [np.empty(0, self._dtype), *(np.array(row, self._dtype) for row in rows)]
        self._append(self._tokens, np.concatenate(tokens))
        self._append(self._ends, self._n_tokens + np.cumsum(lengths, dtype=END_DTYPE))
        self._n_tokens += int(lengths.sum())
        self._n_documents += len(rows)

    def _append(self, file: IO[bytes], values: np.ndarray) -> None:
        content = values.tobytes()
        file.write(content)
        self._digests[file].update(content)

    def info(self) -> SplitInfo:
        tokens, ends = (digest.hexdigest() for digest in self._digests.values())
        return SplitInfo(tokens=self._n_tokens, documents=self._n_documents, tokens_sha256=tokens, ends_sha256=ends)


def write_shard(
    folder: str,
    name: str,
    documents: Iterable[str],
    tokenizer: Tokenizer,
    validation_fraction: float,
    held_out: np.ndarray | None = None,
) -> ShardInfo:
    """Write documents as tokens, each followed by the end token. Documents without tokens are dropped.

    A hash of its text decides the split of a document, so the split does not depend on other documents, and copies of
    a document are in the same split. Names of special tokens that occur in a text are encoded as text.

    Args:
        folder: path or URI.
        name: name of the shard; shards are read in the order of their names.
        documents: documents, read once, in batches of at least `BATCH_CHARACTERS` characters.
        tokenizer: tokenizer with an end token.
        validation_fraction: fraction of the documents in the validation split, between 0 and 1.
        held_out: [D] uint64, sorted: digests of documents to leave out, from `document_digest`.

    Raises:
        BitcipherError: if the fraction is out of bounds, a document is not valid Unicode, or a file cannot be written.
    """
    if not 0 <= validation_fraction <= 1:
        raise BitcipherError(f"`validation_fraction` must be between 0 and 1, got {validation_fraction}.")
    dtype = token_dtype(vocab_size(tokenizer))
    end = special_tokens(tokenizer).end
    encoder = plain_text_tokenizer(tokenizer)
    with ExitStack() as stack:
        writers = [
            _SplitWriter(
                stack.enter_context(storage.writing(storage.join(folder, tokens_file(split, name)))),
                stack.enter_context(storage.writing(storage.join(folder, ends_file(split, name)))),
                dtype,
            )
            for split in SPLITS
        ]
        n_held_out = 0
        for batch in _batches(documents):
            if held_out is not None:
                kept = list(drop_held_out(batch, held_out))
                n_held_out += len(batch) - len(kept)
                batch = kept
            rows: list[list[list[int]]] = [[], []]
            for document, encoding in zip(batch, _encode(encoder, batch, name), strict=True):
                if ids := encoding.ids:
                    rows[is_validation(document, validation_fraction)].append([*ids, end])
            for writer, split_rows in zip(writers, rows, strict=True):
                writer.write(split_rows)
    train, validation = (writer.info() for writer in writers)
    return ShardInfo(name=name, train=train, validation=validation, held_out_documents=n_held_out)


def is_validation(document: str, fraction: float) -> bool:
    """Return whether a document is in the validation split, which a hash of its text decides."""
    return is_drawn(document, fraction)


def _batches(documents: Iterable[str]) -> Iterator[list[str]]:
    batch: list[str] = []
    n_characters = 0
    for document in documents:
        batch.append(document)
        n_characters += len(document)
        if n_characters >= BATCH_CHARACTERS:
            yield batch
            batch, n_characters = [], 0
    yield batch


def _encode(encoder: Tokenizer, batch: list[str], name: str) -> list[Encoding]:
    try:
        return encoder.encode_batch_fast(batch, add_special_tokens=False)
    except (TypeError, UnicodeEncodeError):
        invalid = next((text for text in batch if not _is_unicode(text)), None)
        if invalid is None:
            raise
        raise BitcipherError(
            f"A document of shard {name} is not valid Unicode: it has half a surrogate pair, and begins with "
            f"{invalid[:40]!a}. Correct or remove it."
        ) from None


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def finish_dataset(folder: str, shards: Iterable[ShardInfo], tokenizer: Tokenizer, held_out_sources: int = 0) -> None:
    """Write `tokenizer.json` and then `text.json`, which makes the shards a dataset for `TokenDataset.open`.

    Args:
        folder: folder of the shards.
        shards: all shards, in any order.
        tokenizer: tokenizer that the shards were written with.
        held_out_sources: number of sources that were left out, because they are also validation sources.

    Raises:
        BitcipherError: if no document is in the training split, or a file cannot be written.
    """
    shards = sorted(shards, key=lambda shard: shard.name)
    if len({shard.name for shard in shards}) < len(shards):
        raise ValueError("Two shards have the same name.")
    if not any(shard.train.documents for shard in shards):
        n_validation = sum(shard.validation.documents for shard in shards)
        n_left_out = sum(shard.held_out_documents for shard in shards)
        left_out = f", and {n_left_out} documents are left out because they are held out" if n_left_out else ""
        raise BitcipherError(
            f"The training split of {folder} has no documents, and its validation split has {n_validation}{left_out}; "
            "provide more text."
        )
    content = tokenizer_json(tokenizer)
    with storage.writing(storage.join(folder, TOKENIZER)) as stream:
        stream.write(content)
    splits = {
        split: tuple(NamedSplitInfo(name=shard.name, **getattr(shard, split).to_dict()) for shard in shards)
        for split in SPLITS
    }
    held_out = storage.read_bytes(storage.join(folder, HELD_OUT))
    metadata = DatasetMetadata(
        dtype=token_dtype(vocab_size(tokenizer)).name,
        tokenizer_sha256=hashlib.sha256(content).hexdigest(),
        held_out_sha256=None if held_out is None else hashlib.sha256(held_out).hexdigest(),
        held_out_sources=held_out_sources,
        held_out_documents=sum(shard.held_out_documents for shard in shards),
        **splits,
    )
    json_files.write(storage.join(folder, METADATA), metadata.to_dict())

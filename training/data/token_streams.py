"""Token shards as one long stream of tokens, mapped into memory, and as sequences of equal length."""

import hashlib
from bisect import bisect_right
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import accumulate
from os import path

import numpy as np
from tokenizers import Tokenizer

from bitcipher import storage
from bitcipher.errors import BitcipherError
from training.data.token_shards import END_DTYPE, FORMAT, PARTS, PartNote, ends_file, tokens_file
from training.data.tokenizer_files import load_tokenizer

# Mapped shards keep their files open, of which a process may have 1,024 by default on Linux.
MAPPED_SHARDS = 128


@dataclass(frozen=True)
class _Shard:
    """One part of a shard on this machine's disk."""

    tokens_path: str
    ends_path: str
    note: PartNote


class TokenStream:
    """The documents of one part of a text, one after the other: `len(stream)` tokens.

    It is not for sending: a worker opens the folder itself.
    """

    def __init__(self, shards: list[_Shard], dtype: np.dtype):
        self._shards = [shard for shard in shards if shard.note.tokens]  # an empty file cannot be mapped
        self._starts = list(accumulate((shard.note.tokens for shard in self._shards), initial=0))
        self._tokens = lru_cache(MAPPED_SHARDS)(
            lambda number: np.memmap(self._shards[number].tokens_path, dtype, mode="r")
        )

    def __len__(self) -> int:
        return self._starts[-1]

    @property
    def documents(self) -> int:
        """How many documents there are."""
        return sum(shard.note.documents for shard in self._shards)

    @cached_property
    def ends(self) -> np.ndarray:
        """[documents], int64: where each document ends, in tokens from the beginning of the stream."""
        ends = (np.fromfile(shard.ends_path, END_DTYPE) for shard in self._shards)
        return np.concatenate([np.empty(0, np.int64), *map(np.add, ends, self._starts)])

    def read(self, starts: np.ndarray, length: int) -> np.ndarray:
        """Runs of tokens from anywhere in the stream.

        Args:
            starts: [B], where they begin.
            length: how long each is.

        Returns:
            [B, length], int64.

        Raises:
            IndexError: if one goes beyond the stream.
        """
        starts = np.asarray(starts, np.int64)
        if len(starts) and (starts.min() < 0 or starts.max() + length > len(self)):
            raise IndexError(f"Not all of these {len(starts)} runs of {length} lie within {len(self)} tokens.")
        rows = np.empty((len(starts), length), np.int64)
        for row, start in zip(rows, starts.tolist(), strict=True):
            number = bisect_right(self._starts, start) - 1
            filled = 0
            while filled < length:
                within = start + filled - self._starts[number]
                piece = self._tokens(number)[within : within + length - filled]
                row[filled : filled + len(piece)] = piece
                filled += len(piece)
                number += 1
        return rows


@dataclass(frozen=True)
class TokenText:
    """A folder that `finish_text` finished, opened."""

    folder: str
    """its path"""
    tokenizer: Tokenizer
    """which made its tokens"""
    train: TokenStream
    """documents to learn from"""
    validation: TokenStream
    """documents held back; may be none"""

    @classmethod
    def open(cls, folder: str) -> "TokenText":
        """Open a folder; tokens stay on the disk.

        Raises:
            BitcipherError: if it is not on this machine's disks, is no finished text, or a file is missing or has
                another length than `text.json` says.
        """
        local = storage.local_path(folder)
        if local is None:
            raise BitcipherError(
                f"{folder} is not on this machine's disks, where training maps its tokens into memory: copy it there."
            )
        uri = storage.join(local, "text.json")
        if not path.exists(uri):
            raise BitcipherError(
                f"There is no text.json in {folder}: it is no folder of token shards, or not finished."
            )
        content = storage.read_json(uri)
        if content.get("format") != FORMAT:
            raise BitcipherError(
                f"{uri} has the format {content.get('format')!r}, not {FORMAT!r}: make the text again."
            )
        try:
            dtype = np.dtype({"uint16": "<u2", "uint32": "<u4"}[content["dtype"]])
            digest = content["tokenizer_sha256"]
            shards = [[_shard(local, part, dict(entry)) for entry in content[part]] for part in PARTS]
        except (KeyError, TypeError, ValueError):
            raise BitcipherError(f"{uri} is damaged: make the text again.") from None
        for shard in (shard for of_part in shards for shard in of_part):
            _demand_length(shard.tokens_path, shard.note.tokens * dtype.itemsize)
            _demand_length(shard.ends_path, shard.note.documents * END_DTYPE.itemsize)
        train, validation = (TokenStream(of_part, dtype) for of_part in shards)
        return cls(local, _tokenizer(storage.join(local, "tokenizer.json"), digest), train, validation)


def _shard(folder: str, part: str, entry: dict) -> _Shard:
    name = entry.pop("name")
    tokens, ends = (storage.join(folder, file) for file in (tokens_file(part, name), ends_file(part, name)))
    return _Shard(tokens, ends, PartNote(**entry))


def _demand_length(file: str, length: int) -> None:
    if not path.exists(file):
        raise BitcipherError(
            f"The file {file} is missing, which text.json names: copy the folder again, or make it again."
        )
    if path.getsize(file) != length:
        raise BitcipherError(
            f"The file {file} has {path.getsize(file)} bytes in place of {length}: "
            "copy the folder again, or make it again."
        )


def _tokenizer(file: str, digest: str) -> Tokenizer:
    content = storage.read_bytes(file)
    if content is None or hashlib.sha256(content).hexdigest() != digest:
        raise BitcipherError(f"The file {file} is missing or not the one of these tokens: copy the folder again.")
    return load_tokenizer(file)


class Sequences:
    """A stream cut into sequences of equal length; the tokens left over at its end belong to none.

    Args:
        stream: the tokens.
        length: of a sequence, in tokens.

    Raises:
        BitcipherError: if the stream is shorter than one sequence.
    """

    def __init__(self, stream: TokenStream, length: int):
        if len(stream) < length:
            raise BitcipherError(
                f"The text has {len(stream)} tokens, fewer than one sequence of {length}: give more text."
            )
        self.stream = stream
        self.length = length

    def __len__(self) -> int:
        return len(self.stream) // self.length

    def take(self, numbers: np.ndarray) -> np.ndarray:
        """Sequences by number: sequence i is tokens i · length … (i + 1) · length.

        Args:
            numbers: [B], below `len(sequences)`.

        Returns:
            [B, length], int64.
        """
        return self.stream.read(np.asarray(numbers, np.int64) * self.length, self.length)

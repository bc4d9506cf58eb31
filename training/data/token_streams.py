"""Reader of token shards: memory-mapped token streams, sequences of equal length, and their order.

The order is a new permutation in each epoch, computed without a table.
"""

import hashlib
from bisect import bisect_right
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import accumulate
from math import isqrt
from os import path

import numpy as np
from tokenizers import Tokenizer

from bitcipher.errors import BitcipherError
from bitcipher.files import storage
from pipelines.tokenizers.tokenizer_json import load_tokenizer, vocab_size
from training.data.counter_rng import derive_key, uniform
from training.data.token_files import check_token_file, incomplete, local_token_shards, token_hashes
from training.data.token_shards import (
    END_DTYPE,
    METADATA,
    TOKENIZER,
    DatasetMetadata,
    NamedSplitInfo,
    ends_file,
    tokens_file,
)

# Rounds of the Feistel network. Four rounds are indistinguishable from a random permutation, even with queries of its
# inverse (Luby & Rackoff 1988). The other four rounds are for small numbers of sequences, for which four are too few.
_ROUNDS = 8


class SequenceOrder:
    """Random order of the sequences, with a new permutation in each epoch. Any position can be queried.

    A balanced Feistel network permutes the integers below the smallest square number that is at least `total`. A result
    that is not below `total` is permuted again until it is ("cycle walking", Black & Rogaway 2002, "Ciphers with
    arbitrary finite domains").

    Args:
        total: number of sequences, at least 1.
        seed: seed of the order.
    """

    def __init__(self, total: int, seed: int):
        if total < 1:
            raise ValueError(f"`total` must be at least 1, got {total}.")
        self.total = total
        self._side = isqrt(total - 1) + 1
        self._keys = [derive_key(seed, "order", number) for number in range(_ROUNDS)]

    def sequence_ids(self, positions: np.ndarray) -> np.ndarray:
        """Return the ids of the sequences at positions of a run.

        Args:
            positions: [B] int64, at least 0. Epoch e has the positions e · total to (e + 1) · total - 1.

        Returns:
            [B] int64, from 0 to `total` - 1.
        """
        positions = np.asarray(positions, np.int64)
        if (positions < 0).any():
            raise ValueError("`positions` must be at least 0.")
        epochs, offsets = np.divmod(positions, self.total)
        ids = self._permute(epochs, offsets)
        while len(outside := np.flatnonzero(ids >= self.total)):
            ids[outside] = self._permute(epochs[outside], ids[outside])
        return ids

    def _permute(self, epochs: np.ndarray, numbers: np.ndarray) -> np.ndarray:
        left, right = np.divmod(numbers, self._side)
        for key in self._keys:
            shift = (uniform(key, epochs * self._side + right, 1)[:, 0] * self._side).astype(np.int64)
            left, right = right, (left + shift) % self._side
        return left * self._side + right


# A mapped shard keeps its file open, and Linux limits a process to 1,024 open files by default.
MAX_MAPPED_SHARDS = 128


@dataclass(frozen=True)
class _LocalSplit:
    """One split of a shard on the local disk."""

    tokens_path: str
    ends_path: str
    info: NamedSplitInfo


class TokenStream:
    """Tokens of all documents of a split as one sequence; `len(stream)` is the number of tokens.

    Do not pickle a stream; open the dataset in each worker instead.
    """

    def __init__(self, shards: list[_LocalSplit], dtype: np.dtype, n_tokens: int):
        self._n_tokens = n_tokens
        self._shards = [shard for shard in shards if shard.info.tokens]  # an empty file cannot be mapped
        self._starts = list(accumulate((shard.info.tokens for shard in self._shards), initial=0))
        self._map_shard = lru_cache(MAX_MAPPED_SHARDS)(
            lambda number: np.memmap(self._shards[number].tokens_path, dtype, mode="r")
        )

    def __len__(self) -> int:
        return self._starts[-1]

    @property
    def n_documents(self) -> int:
        """Number of documents."""
        return sum(shard.info.documents for shard in self._shards)

    @property
    def shard_names(self) -> list[str]:
        """Names of the shards that have tokens."""
        return [shard.info.name for shard in self._shards]

    def shard_numbers(self, offsets: np.ndarray) -> np.ndarray:
        """Return the position [B] int64 in `shard_names` of the shard of each token, by offsets [B] in the stream."""
        return np.searchsorted(self._starts, offsets, side="right") - 1

    @cached_property
    def ends(self) -> np.ndarray:
        """[n_documents] int64: end of each document, in tokens from the start of the stream."""
        ends = [_read_ends(shard) for shard in self._shards]
        return np.concatenate([np.empty(0, np.int64), *map(np.add, ends, self._starts)])

    def read(self, starts: np.ndarray, length: int) -> np.ndarray:
        """Return slices of the stream.

        Args:
            starts: [B] int64, offset of each slice's first token in the stream.
            length: number of tokens of each slice.

        Returns:
            [B, length] int64.

        Raises:
            IndexError: if a slice is not within the stream.
            BitcipherError: if a file of tokens is damaged.
        """
        starts = np.asarray(starts, np.int64)
        if len(starts) and (starts.min() < 0 or starts.max() + length > len(self)):
            raise IndexError(f"A slice of {length} tokens is not within the stream of {len(self)} tokens.")
        rows = np.empty((len(starts), length), np.int64)
        for row, start in zip(rows, starts.tolist(), strict=True):
            number = bisect_right(self._starts, start) - 1
            filled = 0
            while filled < length:
                offset = start + filled - self._starts[number]
                tokens = self._map_shard(number)[offset : offset + length - filled]
                if tokens.max() >= self._n_tokens:
                    problem = f"it has the token {tokens.max():,}, and the tokenizer has {self._n_tokens:,} tokens"
                    raise _damaged(self._shards[number].tokens_path, problem)
                row[filled : filled + len(tokens)] = tokens
                filled += len(tokens)
                number += 1
        return rows


def _read_ends(shard: _LocalSplit) -> np.ndarray:
    ends = np.fromfile(shard.ends_path, END_DTYPE)
    if (np.diff(ends, prepend=0) < 1).any() or ends[-1:].tolist() != [shard.info.tokens]:
        raise _damaged(shard.ends_path, "it does not hold the ends of documents")
    return ends


def _damaged(path: str, problem: str) -> BitcipherError:
    return BitcipherError(f"{path} is damaged, because {problem}; copy or write the token shards again.")


@dataclass(frozen=True)
class TokenDataset:
    """Token shards of a text with their tokenizer."""

    folder: str
    """Local path of the folder."""
    tokenizer: Tokenizer
    """Tokenizer of the tokens."""
    train: TokenStream
    """Training split."""
    validation: TokenStream
    """Validation split; it has no tokens if no document was held out."""

    @classmethod
    def open(cls, folder: str) -> "TokenDataset":
        """Open a folder that `finish_dataset` completed. Tokens stay on disk.

        Args:
            folder: path, or URI of a store, from which the files are copied to this node (see `local_token_shards`).

        Raises:
            BitcipherError: if the folder is not complete, or a file is missing or damaged.
        """
        local = local_token_shards(folder)
        uri = storage.join(local, METADATA)
        if not path.exists(uri):
            raise incomplete(folder)
        metadata = DatasetMetadata.read(uri)
        dtype = np.dtype({"uint16": "<u2", "uint32": "<u4"}[metadata.dtype])
        train = [_local_split(local, "train", info) for info in metadata.train]
        validation = [_local_split(local, "validation", info) for info in metadata.validation]
        for split in (*train, *validation):
            _check_size(split.tokens_path, split.info.tokens * dtype.itemsize)
            _check_size(split.ends_path, split.info.documents * END_DTYPE.itemsize)
        tokenizer = _load_checked(storage.join(local, TOKENIZER), metadata.tokenizer_sha256)
        streams = (TokenStream(split, dtype, vocab_size(tokenizer)) for split in (train, validation))
        return cls(local, tokenizer, *streams)

    def check_tokens(self) -> None:
        """Read all token shards, and compare them with their SHA-256 in `text.json`. Call it once per run.

        Raises:
            BitcipherError: if a file is missing or damaged.
        """
        for file, sha256 in token_hashes(self.folder).items():
            check_token_file(file, sha256)


def _local_split(folder: str, split: str, info: NamedSplitInfo) -> _LocalSplit:
    tokens, ends = (storage.join(folder, file) for file in (tokens_file(split, info.name), ends_file(split, info.name)))
    return _LocalSplit(tokens, ends, info)


def _check_size(file: str, n_bytes: int) -> None:
    if not path.exists(file):
        raise BitcipherError(f"{file} is missing; copy or write the token shards again.")
    if path.getsize(file) != n_bytes:
        raise BitcipherError(
            f"{file} has {path.getsize(file)} bytes instead of {n_bytes}; copy or write the token shards again."
        )


def _load_checked(file: str, sha256: str) -> Tokenizer:
    content = storage.read_bytes(file)
    if content is None or hashlib.sha256(content).hexdigest() != sha256:
        raise BitcipherError(
            f"{file} is missing or not the tokenizer of these tokens; copy or write the token shards again."
        )
    return load_tokenizer(file)


class Sequences:
    """Token stream cut into sequences of equal length. Tokens after the last full sequence are not used.

    Args:
        stream: tokens.
        length: tokens per sequence.

    Raises:
        BitcipherError: if the stream is shorter than one sequence.
    """

    def __init__(self, stream: TokenStream, length: int):
        if len(stream) < length:
            raise BitcipherError(
                f"The text has {len(stream)} tokens, fewer than one sequence of {length}; provide more text."
            )
        self.stream = stream
        self.length = length

    def __len__(self) -> int:
        return len(self.stream) // self.length

    def take(self, ids: np.ndarray) -> np.ndarray:
        """Return sequences by id; sequence i has the tokens i · length to (i + 1) · length - 1 of the stream.

        Args:
            ids: [B] int64, from 0 to `len(sequences)` - 1.

        Returns:
            [B, length] int64.
        """
        return self.stream.read(np.asarray(ids, np.int64) * self.length, self.length)

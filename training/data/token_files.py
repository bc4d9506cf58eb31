"""Files of token shards: their digests, and their copies on this node if they are in a store."""

import os

from bitcipher.errors import BitcipherError
from bitcipher.files import json_files, storage
from bitcipher.files.file_digests import digest_bytes, digest_file
from bitcipher.files.node_cache import cache_folder, copy_file, locking_folder
from training.data.held_out import HELD_OUT
from training.data.token_shards import METADATA, TOKENIZER, DatasetMetadata, ends_file, tokens_file


def token_hashes(folder: str) -> dict[str, str]:
    """Return the SHA-256 of each file of token shards and of the tokenizer, by its path or URI, from `text.json`.

    Raises:
        BitcipherError: if `text.json` is missing or damaged.
    """
    return _hashes_in(folder, DatasetMetadata.read(storage.join(folder, METADATA)))


def check_token_file(file: str, sha256: str) -> None:
    """Read a file of token shards, and compare it with its SHA-256.

    Raises:
        BitcipherError: if the file is missing or damaged.
    """
    if digest_file(file).sha256 != sha256:
        raise _damaged(file)


def local_token_shards(folder: str) -> str:
    """Return the local path of a folder of token shards, and copy those in a store to the cache of this node.

    Files that the cache already has are compared with their SHA-256 again, and copied again if they differ.

    Raises:
        BitcipherError: if the folder is not complete, a file of it is missing or damaged, or the cache cannot be
            written.
    """
    path = storage.local_path(folder)
    if path is not None:
        return path
    uri = storage.join(folder, METADATA)
    content = storage.read_bytes(uri)
    if content is None:
        raise incomplete(folder)
    metadata = DatasetMetadata.parse(json_files.parse(content, uri), uri)
    target = cache_folder() / "token-shards" / digest_bytes(content).sha256[:16]
    with locking_folder(target):
        for file, sha256 in _hashes_in(folder, metadata).items():
            copy = str(target / os.path.basename(file))
            if os.path.exists(copy) and digest_file(copy).sha256 == sha256:
                continue
            copy_file(file, copy)
            if digest_file(copy).sha256 != sha256:
                raise _damaged(file)
        storage.write_bytes(str(target / METADATA), content)
    return str(target)


def incomplete(folder: str) -> BitcipherError:
    """Return the error for a folder without `text.json`."""
    return BitcipherError(f"There is no {METADATA} in {folder}; it is not a complete folder of token shards.")


def _hashes_in(folder: str, metadata: DatasetMetadata) -> dict[str, str]:
    hashes = {storage.join(folder, TOKENIZER): metadata.tokenizer_sha256}
    if metadata.held_out_sha256 is not None:
        hashes[storage.join(folder, HELD_OUT)] = metadata.held_out_sha256
    for split, infos in {"train": metadata.train, "validation": metadata.validation}.items():
        for info in infos:
            hashes[storage.join(folder, tokens_file(split, info.name))] = info.tokens_sha256
            hashes[storage.join(folder, ends_file(split, info.name))] = info.ends_sha256
    return hashes


def _damaged(file: str) -> BitcipherError:
    return BitcipherError(
        f"{file} is damaged: its SHA-256 differs from that in {METADATA}; copy the token shards again, or remove "
        "their folder and train again to write them."
    )

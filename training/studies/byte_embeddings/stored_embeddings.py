"""Folder of trained byte embeddings: `byte_embeddings.json` and `byte_embeddings.safetensors`."""

import hashlib
import json
from collections.abc import Sequence

from pydantic import Field
from safetensors import SafetensorError
from safetensors.torch import load, save
from torch import Tensor

from bitcipher.errors import BitcipherError, first_line
from bitcipher.files import json_files, storage
from bitcipher.files.file_digests import FileDigest, check_digest, digest_bytes
from bitcipher.files.records import Float, Record
from training.studies.byte_embeddings.alignment import ByteEmbeddings
from training.studies.byte_embeddings.bytes_cnn import BytesCNN
from training.studies.byte_embeddings.options import AlignmentOptions

# Increase this number when the same table and options give another network. A test compares losses, and fails after
# such a change.
ALIGNMENT_VERSION = 1

METADATA, WEIGHTS = "byte_embeddings.json", "byte_embeddings.safetensors"


class StoredAlignment(Record):
    """Contents of `byte_embeddings.json`."""

    options: AlignmentOptions
    vector_size: int = Field(ge=1)
    """Width of the vectors."""
    length: Float | None
    """Length to which vectors are scaled; None to leave them as they are."""
    weights: FileDigest
    """Digest of the weights."""
    table: str | None = None
    """Digest of the tokens and vectors of the aligned table (see `table_digest`); None if it was not recorded."""
    version: int | None = None
    """`ALIGNMENT_VERSION` of the program that trained the network; None if it was not recorded."""


def table_digest(tokens: Sequence[str], rows: Tensor) -> str:
    """Return the SHA-256 of the tokens of a table and their vectors, in hexadecimal.

    Args:
        tokens: N tokens.
        rows: (N, d) float, vectors of the tokens.
    """
    digest = hashlib.sha256(json.dumps(list(tokens)).encode())
    digest.update(rows.detach().float().cpu().contiguous().numpy().tobytes())
    return digest.hexdigest()


def save_byte_embeddings(embeddings: ByteEmbeddings, folder: str, table: str) -> None:
    """Write byte embeddings to a folder or URI, which appears under its name only when it is complete.

    Args:
        embeddings: byte embeddings.
        folder: path or URI of the folder.
        table: digest of the table that they were aligned with, from `table_digest`.

    Raises:
        BitcipherError: if the folder exists or cannot be written.
    """
    weights = save(embeddings.network.state_dict())
    stored = StoredAlignment(
        options=embeddings.options,
        vector_size=embeddings.network.projection.out_features,
        length=embeddings.length,
        weights=digest_bytes(weights),
        table=table,
        version=ALIGNMENT_VERSION,
    )
    with storage.writing_folder(folder) as unfinished:
        storage.write_bytes(storage.join(unfinished, WEIGHTS), weights)
        json_files.write(storage.join(unfinished, METADATA), stored.to_dict())


def load_byte_embeddings(folder: str) -> ByteEmbeddings:
    """Read byte embeddings from a folder or URI.

    Raises:
        BitcipherError: if a file is missing or damaged.
    """
    if not storage.exists(storage.join(folder, METADATA)):
        raise BitcipherError(
            f"There are no byte embeddings in {folder}; make them with `bitcipher study byte-embeddings align`."
        )
    stored = StoredAlignment.read(storage.join(folder, METADATA))
    weights = storage.join(folder, WEIGHTS)
    check_digest(weights, stored.weights, "make the byte embeddings again with `bitcipher study byte-embeddings align`")
    network = BytesCNN(stored.options.size, stored.vector_size)
    try:
        network.load_state_dict(load(storage.read_bytes(weights) or b""))
    except (SafetensorError, RuntimeError) as error:
        raise BitcipherError(f"The weights in {folder} cannot be read: {first_line(error)}.") from None
    network.eval()
    return ByteEmbeddings(network, stored.options, stored.length)

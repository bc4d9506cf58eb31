"""Folder of trained byte embeddings: `byte_embeddings.json` and `byte_embeddings.safetensors`."""

from pydantic import Field
from safetensors import SafetensorError
from safetensors.torch import load, save

from bitcipher import json_files, storage
from bitcipher.errors import BitcipherError, first_line
from bitcipher.records import Float, Record
from training.byte_embeddings.alignment import ByteEmbeddings
from training.byte_embeddings.bytes_cnn import BytesCNN
from training.byte_embeddings.options import AlignmentOptions
from training.file_digests import FileDigest, check_digest, digest_bytes

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


def save_byte_embeddings(embeddings: ByteEmbeddings, folder: str) -> None:
    """Write byte embeddings to a folder or URI, which appears under its name only when it is complete.

    Raises:
        BitcipherError: if the folder exists or cannot be written.
    """
    weights = save(embeddings.network.state_dict())
    stored = StoredAlignment(
        options=embeddings.options,
        vector_size=embeddings.network.projection.out_features,
        length=embeddings.length,
        weights=digest_bytes(weights),
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
        raise BitcipherError(f"There are no byte embeddings in {folder}; make them with `bitcipher align-bytes`.")
    stored = StoredAlignment.read(storage.join(folder, METADATA))
    weights = storage.join(folder, WEIGHTS)
    check_digest(weights, stored.weights, "make the byte embeddings again with `bitcipher align-bytes`")
    network = BytesCNN(stored.options.size, stored.vector_size)
    try:
        network.load_state_dict(load(storage.read_bytes(weights) or b""))
    except (SafetensorError, RuntimeError) as error:
        raise BitcipherError(f"The weights in {folder} cannot be read: {first_line(error)}.") from None
    network.eval()
    return ByteEmbeddings(network, stored.options, stored.length)

"""Reader and writer for the folder that stores a `SentenceEncoder`.

    encoder.json            format, sizes and SHA-256 of the files that `read_encoder` reads
    model.safetensors, …    the files of a static embedding model, see `bitcipher.formats.static_model`
    spelling.safetensors    vectors of n-grams, and the matrix that multiplies vectors of unknown words

`encoder.json` is written last, so its presence shows that the folder is complete.
"""

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import safetensors
import safetensors.numpy

from bitcipher import json_files, storage
from bitcipher.errors import BitcipherError
from bitcipher.formats import static_model
from bitcipher.records import Record
from bitcipher.table import VectorTable
from bitcipher.table.manifest import FileEntry
from bitcipher.table.vector_files import read_checked, write_bytes
from bitcipher.vocabulary import OOV

if TYPE_CHECKING:
    from bitcipher.spelling import Spelling

FORMAT = "bitcipher-sentences/1"
MANIFEST = "encoder.json"
MODEL = ("model.safetensors", "tokenizer.json")
SPELLING, TRANSFORM = "spelling.safetensors", "transform"


class StoredEncoder(NamedTuple):
    """Content of a folder.

    Attributes:
        table: words and their weighted vectors. `<oov>`, for unknown words, has zeros.
        whitespace_only: whether text is split only at whitespace.
        spelling: vectors of n-grams; None if unknown words have no influence.
        spelling_transform: (d, d) float32, the matrix that multiplies vectors of unknown words.
    """

    table: VectorTable
    whitespace_only: bool
    spelling: "Spelling | None"
    spelling_transform: np.ndarray


class EncoderManifest(Record):
    """The file encoder.json."""

    format: str
    """Name and version of the format."""
    whitespace_only: bool
    """Whether text is split only at whitespace."""
    files: dict[str, FileEntry]
    """Sizes and digests of the files that an encoder reads, by name."""


def write_encoder(uri: str, encoder: StoredEncoder) -> None:
    """Write a folder, which appears under its name only when it is complete.

    Raises:
        BitcipherError: if `uri` exists or cannot be written.
    """
    storage.check_new(uri)
    with storage.writing_folder(uri) as folder:
        files = static_model.write_files(folder, encoder.table, encoder.whitespace_only, normalize=True)
        files = {name: files[name] for name in MODEL}
        if encoder.spelling is not None:
            arrays = {**encoder.spelling.to_arrays(), TRANSFORM: encoder.spelling_transform}
            files[SPELLING] = write_bytes(folder, SPELLING, [safetensors.numpy.save(arrays)])
        manifest = EncoderManifest(format=FORMAT, whitespace_only=encoder.whitespace_only, files=files)
        json_files.write(storage.join(folder, MANIFEST), manifest.to_dict())


def read_encoder(uri: str) -> StoredEncoder:
    """Return the content of a folder, whose digests are checked.

    Raises:
        BitcipherError: if `uri` is no folder of an encoder, has another format, or is damaged.
    """
    path = storage.join(uri, MANIFEST)
    if not storage.exists(path):
        raise BitcipherError(f"{uri} is not a folder of a sentence encoder, or is incomplete: it has no {MANIFEST}.")
    values = json_files.read(path)
    if values.get("format") != FORMAT:
        raise BitcipherError(
            f"{path} has the format {values.get('format')!r}, but {FORMAT!r} is needed: save it again."
        )
    manifest = EncoderManifest.parse(values, path)
    if not set(MODEL) <= manifest.files.keys() <= {*MODEL, SPELLING}:
        raise BitcipherError(f"The list of files in {path} is damaged: save the encoder again.")
    contents = {name: read_checked(storage.join(uri, name), entry) for name, entry in manifest.files.items()}
    table = static_model.parse(uri, *(contents[name] for name in reversed(MODEL)))
    if OOV not in table.key_to_index:
        raise BitcipherError(f"The tokenizer in {uri} has no {OOV}: save the encoder again.")
    if SPELLING not in contents:
        return StoredEncoder(table, manifest.whitespace_only, None, np.eye(table.vector_size, dtype=np.float32))
    spelling, transform = _read_spelling(storage.join(uri, SPELLING), contents[SPELLING], table.vector_size)
    return StoredEncoder(table, manifest.whitespace_only, spelling, transform)


def _read_spelling(path: str, content: bytes, vector_size: int) -> tuple["Spelling", np.ndarray]:
    from bitcipher.spelling import Spelling  # which loads numba

    try:
        arrays = safetensors.numpy.load(content)
        transform = arrays.pop(TRANSFORM)
    except (safetensors.SafetensorError, KeyError) as error:
        raise BitcipherError(f"{path} is damaged: {error}. Save the encoder again.") from None
    spelling = Spelling.from_arrays(arrays)
    is_matrix = transform.dtype == np.float32 and transform.shape == (vector_size, vector_size)
    if spelling is None or spelling.vectors.shape[1] != vector_size or not is_matrix:
        raise BitcipherError(f"{path} does not have {vector_size} dimensions: save the encoder again.")
    return spelling, transform

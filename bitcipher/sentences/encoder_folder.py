"""Reader and writer for the folder that stores a `SentenceEncoder`.

    encoder.json            format, and sizes and SHA-256 of the files that `read_encoder` reads
    model.safetensors, …    the files of a static embedding model, see `bitcipher.formats.static_model`

`encoder.json` is written last, so its presence shows that the folder is complete.
"""

from typing import NamedTuple

from bitcipher.errors import BitcipherError
from bitcipher.files import json_files, storage
from bitcipher.files.records import Record
from bitcipher.formats import static_model
from bitcipher.formats.word_tokenizer import make_tokenizer
from bitcipher.table.manifest import FileEntry
from bitcipher.table.vector_files import read_checked
from bitcipher.table.vector_table import VectorTable
from bitcipher.vocabulary import OOV

FORMAT = "bitcipher-sentences/1"
MANIFEST = "encoder.json"
TOKENIZER, MODEL = "tokenizer.json", "model.safetensors"


class StoredEncoder(NamedTuple):
    """Content of a folder.

    Attributes:
        table: words and pieces with their weighted vectors. `<oov>` has zeros.
        whitespace_only: whether text is split only at whitespace.
    """

    table: VectorTable
    whitespace_only: bool


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
    table = encoder.table
    with storage.writing_folder(uri) as folder:
        tokenizer = make_tokenizer(table.index_to_key, encoder.whitespace_only, split_unknown=True)
        files = static_model.write_files(folder, [table.vectors], tokenizer, normalize=True)
        files = {name: files[name] for name in (TOKENIZER, MODEL)}
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
        raise BitcipherError(f"{path} has the format {values.get('format')!r}, not {FORMAT!r}: save the encoder again.")
    manifest = EncoderManifest.parse(values, path)
    if manifest.files.keys() != {TOKENIZER, MODEL}:
        raise BitcipherError(f"The list of files in {path} is damaged: save the encoder again.")
    contents = {name: read_checked(storage.join(uri, name), entry) for name, entry in manifest.files.items()}
    table = static_model.parse(uri, contents[TOKENIZER], contents[MODEL])
    if OOV not in table.key_to_index:
        raise BitcipherError(f"The tokenizer in {uri} has no {OOV}: save the encoder again.")
    return StoredEncoder(table, manifest.whitespace_only)

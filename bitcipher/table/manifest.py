"""`TableManifest`: the manifest.json of a folder of vectors."""

from typing import Annotated, Any, Self

from pydantic import Field

from bitcipher.errors import BitcipherError
from bitcipher.files import json_files, storage
from bitcipher.files.records import Record

FORMAT = "bitcipher-vectors/7"

# Formats that are read: 6 is the same without `contexts.safetensors`.
READABLE = (FORMAT, "bitcipher-vectors/6")
MANIFEST = "manifest.json"


class FileEntry(Record):
    """Size and digest of a file in a folder of vectors."""

    bytes: Annotated[int, Field(ge=0)]
    """Size in bytes."""
    sha256: Annotated[str, Field(pattern="^[0-9a-f]{64}$")]
    """SHA-256 in hexadecimal digits."""


class TableManifest(Record):
    """Manifest of a folder of vectors. It is written last, so a folder with a manifest is complete."""

    format: str
    """Name and version of the format."""
    words: Annotated[int, Field(ge=1)]
    """Number of words."""
    vector_size: Annotated[int, Field(ge=1)]
    """Number of dimensions."""
    files: dict[str, FileEntry]
    """Sizes and digests of the folder's files except the manifest, by file name."""
    provenance: dict[str, Any]
    """How the vectors were made, as recorded by the program that made them."""

    @classmethod
    def read(cls, uri: str) -> Self:
        """Return the manifest in a folder of vectors.

        Args:
            uri: the folder.

        Raises:
            BitcipherError: if the folder has no manifest, or one that is damaged or of another format.
        """
        path = storage.join(uri, MANIFEST)
        if not storage.exists(path):
            if not storage.exists(uri):
                raise BitcipherError(f"There is no build and no folder of vectors {uri}.")
            raise BitcipherError(f"{uri} is not a folder of vectors, or is incomplete: it has no {MANIFEST}.")
        values = json_files.read(path)
        name = values.get("format")
        if name not in READABLE and isinstance(name, str) and name.startswith("bitcipher-vectors/"):
            raise BitcipherError(
                f"{uri} has the format {name!r}, but this version of bitcipher reads {FORMAT!r}: use the version that "
                "wrote it, or build the vectors again."
            )
        if name not in READABLE:
            raise BitcipherError(f"{uri} is not a folder of vectors: its {MANIFEST} has the format {name!r}.")
        return cls.parse(values, path)

"""Names of count files, stored in the files themselves.

All count files of a kind have the same columns, so a file under the name of another one would be read without an error.
Its pages have checksums (see `bitcipher.files.parquet_files.write_table`); the name shows that it is the right file.
"""

import pyarrow as pa

from bitcipher.errors import BitcipherError

_KEY = b"bitcipher.file"


def add_name(schema: pa.Schema, uri: str) -> pa.Schema:
    """Return a schema whose metadata holds the name of the file at `uri`."""
    return schema.with_metadata({**(schema.metadata or {}), _KEY: _name(uri)})


def check_name(schema: pa.Schema, uri: str) -> None:
    """Check that the metadata of a file's schema holds its name.

    Raises:
        BitcipherError: if the file was written under another name, or without a name.
    """
    name = (schema.metadata or {}).get(_KEY, b"")
    if name != _name(uri):
        other = f"it was written as {name.decode(errors='replace')!r}" if name else "it has no name of a count file"
        raise BitcipherError(f"{uri} is not the file that was written under this name ({other}): build again.")


def _name(uri: str) -> bytes:
    return uri.rpartition("/")[2].encode()

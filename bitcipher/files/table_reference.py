"""Reference of a manifest to a table. Only commands that read the table import `bitcipher.files.record_table`."""

from pydantic import Field

from bitcipher.files.records import Count, Record


class TableReference(Record):
    """A Parquet table that a manifest refers to."""

    rows: Count
    """Number of rows."""
    sha256: str = Field(pattern="^[0-9a-f]{64}$")
    """SHA-256 of the file."""

"""Options of the readers."""

from typing import Literal

from pydantic import Field

from bitcipher.records import Record

Format = Literal["text", "jsonl", "parquet", "wet"]


class ReadOptions(Record):
    """How files become documents, where the files themselves leave it open."""

    format: Format | None = None
    """Format of all sources; inferred from the ending of each file if not given."""
    document: Literal["line", "file"] = "line"
    """Unit of a document in plain text: each line, or the whole file."""
    field: str = Field("text", min_length=1)
    """Field of JSON lines, or column of Parquet, that holds the text."""

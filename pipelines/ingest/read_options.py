"""Source formats, and options of their readers."""

from typing import TYPE_CHECKING, Literal

from pydantic import Field

from bitcipher.records import Record

# File endings of each format. The reader of a format is the module of the same name in `pipelines.ingest.readers`.
# To add a format, write its module and add it here.
ENDINGS_OF_FORMAT = {
    "text": (".txt",),
    "jsonl": (".jsonl", ".json", ".ndjson"),  # C4 is published as .json.gz
    "parquet": (".parquet",),
    "wet": (".wet",),  # CommonCrawl publishes extracted text as .warc.wet.gz
}

if TYPE_CHECKING:
    Format = str
else:
    Format = Literal[tuple(ENDINGS_OF_FORMAT)]


class ReadOptions(Record):
    """Options of the readers of sources."""

    format: Format | None = None
    """Format of all sources; inferred from the ending of each file if not given."""
    document: Literal["line", "file"] = "line"
    """Unit of a document in plain text: each line, or the whole file."""
    field: str = Field("text", min_length=1)
    """Field of JSON lines, or column of Parquet, that holds the text."""

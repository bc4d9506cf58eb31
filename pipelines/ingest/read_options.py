"""Source formats, and options of their readers."""

import codecs
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import AfterValidator, Field

from bitcipher.files.records import Record
from pipelines.ingest.document_fields import USUAL_FIELDS, DetailFields
from pipelines.ingest.outside_lists import ListProtocols

# File endings of each format. The reader of a format is the module of the same name in `pipelines.ingest.readers`.
# To add a format, write its module and add it here.
ENDINGS_OF_FORMAT = {
    "text": (".txt",),
    "jsonl": (".jsonl", ".json", ".ndjson"),  # C4 is published as .json.gz
    "parquet": (".parquet",),
    "wet": (".wet",),  # CommonCrawl publishes extracted text as .warc.wet.gz
    "warc": (".warc",),
    "arc": (".arc",),
    "arrow": (".arrow",),
    "hf": (),  # rows that the package `datasets` streams, given as hf:// URIs
}

if TYPE_CHECKING:
    Format = str
else:
    Format = Literal[tuple(ENDINGS_OF_FORMAT)]


def _check_encoding(name: str) -> str:
    try:
        codecs.getincrementaldecoder(name)("replace").decode(b"")
        b"text".decode(name, "replace")  # refuses codecs that are not for text
    except (LookupError, ValueError, TypeError, AssertionError):  # AssertionError: base64
        raise ValueError(f"`encoding` must be an encoding that Python knows, such as cp1252, got {name!r}.") from None
    return name


Encoding = Annotated[str, AfterValidator(_check_encoding)]


# Maximum of the option `max_record_mib`.
MAX_RECORD_MIB = 1024


class ReadOptions(Record):
    """Options of the readers of sources."""

    format: Format | None = None
    """Format of all sources; inferred from the ending of each file if not given."""
    document: Literal["line", "file"] = "line"
    """Unit of a document in plain text: each line, or the whole file."""
    field: str = Field("text", min_length=1)
    """Field of JSON lines, or column of Parquet, that holds the text, such as text or data.text."""
    encoding: Encoding | None = None
    """Encoding of all text files, JSON lines and web pages, as Python names it; detected for each if not given."""
    max_record_mib: int = Field(16, ge=1, le=MAX_RECORD_MIB)
    """Maximum MiB of a record, such as a line or a web page. Larger records go to quarantine."""
    max_bad_share: float = Field(0.01, ge=0, le=1)
    """Maximum share of bad records of a source. Bad records go to quarantine; if there are more, the source fails."""

    list_protocols: ListProtocols = Field((), exclude=True)  # not stored: it is a permission, and changes no text

    @property
    def detail_fields(self) -> DetailFields:
        """Fields of JSON lines, or columns of Parquet, that hold the URL, the date and the language."""
        return USUAL_FIELDS

    @property
    def max_record_bytes(self) -> int:
        """Maximum number of bytes of a record."""
        return self.max_record_mib << 20

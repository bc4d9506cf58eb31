"""Compressions and kinds of content that first bytes prove: to refuse a file whose name says something else.

Only kinds that are sure are recognized: the magic number of a binary format, or a beginning that text of another kind
does not have.
"""

import csv
import re
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import NamedTuple

import orjson

# Number of bytes, and of lines, at the beginning of a file that are examined.
BEGINNING_BYTES = 1 << 16
LINES = 50

# Maximum share of control characters in text, beyond the first two. Compressed data has 1 in 10, and English text in
# UTF-16 has 1 in 2.
MAX_CONTROL_SHARE = 0.01
CONTROL_CHARACTERS = bytes(set(range(28)) - set(b"\t\n\v\f\r\x1b"))  # 28 to 31 separate records of text

COMPRESSION_ENDINGS = (".gz", ".zst", ".bz2", ".xz", ".lz4")

# Number of bytes that are needed to recognize a compression.
COMPRESSION_BYTES = 16

# Beginnings of compressed files, each after the bytes that do not vary. The second of .zst is the frame that holds the
# dictionary of a `.warc.zst` file.
_FIXED_BYTES = {
    ".gz": b"\x1f\x8b\x08",
    ".zst": b"\x28\xb5\x2f\xfd",
    ".bz2": b"BZh",
    ".xz": b"\xfd7zXZ\0",
    ".lz4": b"\x04\x22\x4d\x18",
}
_COMPRESSED_BEGINNINGS = {
    ".gz": re.compile(rb"\x1f\x8b\x08[\x00-\x1f]"),
    ".zst": re.compile(rb"\x28\xb5\x2f\xfd|\x5d\x2a\x4d\x18"),
    ".bz2": re.compile(rb"BZh[1-9](?:1AY&SY|\x17rE8P\x90)"),
    ".xz": re.compile(rb"\xfd7zXZ\x00"),
    ".lz4": re.compile(rb"\x04\x22\x4d\x18"),
}


class ContentKind(NamedTuple):
    """Kind of the content of a file."""

    noun: str
    """Noun phrase, such as "an HTML page"."""
    formats: tuple[str, ...] = ()
    """Formats of sources that read it."""
    advice: str = "convert it to JSON lines or Parquet first"
    """What to do with a file for which there is no format."""


JSON_LINES = ContentKind("JSON lines", ("jsonl",))
WARC = ContentKind("a WARC file", ("warc", "wet"))
JSON_ARRAY = ContentKind("a JSON array", advice="write one object per line instead, as `jq -c '.[]'` does")
JSON_DOCUMENT = ContentKind("JSON over several lines", advice="write one object per line instead, as `jq -c .` does")
HTML = ContentKind("an HTML page", advice="extract its text first, or read a WARC file of pages")
XML = ContentKind("an XML document", advice="extract its text first")
TEXT = ContentKind("plain text", ("text",))
PATHS = ContentKind("a list of paths", advice="let its name end in .paths to read the files that it names")

_ARCHIVE = "unpack it first"
_OTHER = "remove it from the sources"
_MAGIC = (
    (b"PAR1", ContentKind("a Parquet file", ("parquet",))),
    (b"ARROW1", ContentKind("an Arrow file", ("arrow",))),
    (b"\xff\xff\xff\xff\x10\0\0\0", ContentKind("an Arrow stream", ("arrow",))),
    (b"PK\x03\x04", ContentKind("a ZIP archive", advice=_ARCHIVE)),
    (b"PK\x05\x06", ContentKind("an empty ZIP archive", advice=_OTHER)),
    (b"7z\xbc\xaf\x27\x1c", ContentKind("a 7z archive", advice=_ARCHIVE)),
    (b"Rar!\x1a\x07", ContentKind("a RAR archive", advice=_ARCHIVE)),
    (b"\x1f\x9d", ContentKind("a file of Unix compress", advice=_ARCHIVE)),
    (b"%PDF-", ContentKind("a PDF file", advice="extract its text first")),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", ContentKind("an Office document", advice="save it as text first")),
    (b"SQLite format 3\0", ContentKind("an SQLite database", advice="export its table as JSON lines or Parquet first")),
    (b"Obj\x01", ContentKind("an Avro file")),
    (b"ORC", ContentKind("an ORC file")),
    (b"\x93NUMPY", ContentKind("a NumPy array", advice=_OTHER)),
    (b"\x89HDF\r\n\x1a\n", ContentKind("an HDF5 file")),
    (b"\x89PNG\r\n\x1a\n", ContentKind("a PNG image", advice=_OTHER)),
    (b"\xff\xd8\xff", ContentKind("a JPEG image", advice=_OTHER)),
)
_TAR = ContentKind("a tar archive", advice=_ARCHIVE)
_COMPRESSED = ContentKind("compressed twice", advice="decompress it once")

_WARC = re.compile(rb"\s*WARC/\d{1,3}\.\d{1,3}\r?\n")
_ARC = re.compile(rb"filedesc://")
_HTML = re.compile(
    r"\s*(?:<\?xml\b[^>]{0,500}>\s*)?(?:<!--(?:[^-]|-(?!->)){0,2000}-->\s*)*<(?:!doctype\s+html|html)\b", re.I
)
_XML = re.compile(r"\s*<\?xml\b")
_ARRAY = re.compile(r"\s*\[\s*\{\s*[\"}]")
_OBJECT = re.compile(r"\s*\{\s*\"(?:[^\"\\\n]|\\.){0,500}\"\s*:")
# A path or a URI of a file, without white space: with a folder or a scheme, and an ending.
_PATH = re.compile(
    r"(?:[a-z][a-z0-9+.-]*://\S+|\S*/\S*\.\w{2,8}|[\w.-]+\.(?:txt|jsonl?|ndjson|parquet|w?arc|wet|arrow)(?:\.\w{2,4})?)",
    re.I,
)

# Delimiters of tables, and names of columns that are certain to be such.
_DELIMITERS = ",;\t|"
_COLUMN = re.compile(r"[A-Za-z_][\w.-]{0,39}")
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
# Number of rows from which quoted fields, or a column of numbers, prove a table without such a header.
MIN_ROWS = 5


def has_control_characters(beginning: bytes) -> bool:
    """Return whether bytes have more control characters than text has."""
    controls = len(beginning) - len(beginning.translate(None, CONTROL_CHARACTERS))
    return controls > 2 + MAX_CONTROL_SHARE * len(beginning)


def identify_content(beginning: bytes) -> ContentKind | None:
    """Return the kind of a file whose format could not be read, or None if its first bytes prove none."""
    if any(beginning.startswith(magic) or magic.startswith(beginning) for magic, kind in _MAGIC if kind.formats):
        return identify_binary(beginning)  # the text of a truncated file is no text
    kind = identify_binary(beginning) or identify_text(beginning.decode(errors="replace"))
    return kind or (None if has_control_characters(beginning) or not beginning.strip() else TEXT)


def identify_binary(beginning: bytes) -> ContentKind | None:
    """Return the kind of a binary file or of a web archive, or None if the first bytes prove none."""
    for magic, kind in _MAGIC:
        # Text can begin with the letters of a magic number, such as ORC.
        if beginning.startswith(magic) and (not magic.isalnum() or has_control_characters(beginning)):
            return kind
    if beginning[257:262] == b"ustar" and b"\0" in beginning[:257]:
        return _TAR
    if _WARC.match(beginning):
        return WARC
    if _ARC.match(beginning):
        return ContentKind("an ARC file", ("arc",))
    return _COMPRESSED if compression_of_bytes(beginning) else None


def identify_text(beginning: str) -> ContentKind | None:
    """Return the kind of text that is no plain text, or None if its beginning proves none.

    Args:
        beginning: at most `BEGINNING_BYTES` characters of the text. The last line may be cut.
    """
    if _HTML.match(beginning):
        return HTML
    if _XML.match(beginning):
        return XML
    if _ARRAY.match(beginning):
        return JSON_ARRAY
    lines = [line for line in islice(beginning.split("\n"), 4 * LINES) if line.strip()][:LINES]
    if not lines:
        return None
    if _is_json(lines[0]) or (len(lines) == 1 and _OBJECT.match(lines[0]) and len(beginning) >= BEGINNING_BYTES):
        return JSON_LINES
    if any(map(_is_json, lines[1:])):
        return None  # JSON lines with a damaged line, or a text about them
    if re.match(r"\s*\{\s*$", lines[0]) and len(lines) > 1 and _OBJECT.match("{" + lines[1]):
        return JSON_DOCUMENT
    is_one_name = len(lines) == 1 and "/" not in lines[0]  # can be all text that there is
    if not is_one_name and all(_PATH.fullmatch(line.strip()) for line in lines[: len(lines) - (len(lines) == LINES)]):
        return PATHS
    return _identify_table(lines)


def _is_json(line: str) -> bool:
    if not _OBJECT.match(line):
        return False
    try:
        return isinstance(orjson.loads(line), dict)
    except orjson.JSONDecodeError:
        return False


def _identify_table(lines: Sequence[str]) -> ContentKind | None:
    """Return the kind of lines with equal numbers of fields, after a header of names or in some rows with quotes."""
    for delimiter in _DELIMITERS:
        if delimiter not in lines[0]:
            continue
        rows = list(_parse_rows(lines, delimiter))
        widths = {len(row) for row in rows}
        if len(rows) < 2 or len(widths) != 1 or widths == {1}:
            continue
        header = rows[0]
        # pandas writes a column without a name first.
        has_header = len(set(header)) == len(header) and all(map(_COLUMN.fullmatch, header[not header[0] :]))
        # In prose, a space follows a comma or a semicolon. A tab can follow the name of a speaker.
        is_prose = delimiter != "\t" and all(field.startswith(" ") for row in rows for field in row[1:])
        is_quoted = delimiter != "\t" and any(f'{delimiter}"' in line for line in lines)
        has_numbers = any(all(map(_NUMBER.fullmatch, column)) for column in zip(*rows[1:], strict=True))
        if not is_prose and (has_header or (len(rows) >= MIN_ROWS and (is_quoted or has_numbers))):
            name = "tabs" if delimiter == "\t" else f"{delimiter!r}"
            return ContentKind(f"a table of {len(header)} columns, separated by {name}")
    return None


def _parse_rows(lines: Sequence[str], delimiter: str) -> Iterator[list[str]]:
    """Yield the complete rows of a table. A quoted field can have several lines, so the last row may be cut."""
    rows = csv.reader((f"{line}\n" for line in lines), delimiter=delimiter, strict=True)
    try:
        previous = next(rows, None)
        for row in rows:
            yield previous or []
            previous = row
        if previous is not None and len(lines) < LINES:
            yield previous
    except csv.Error:
        return


def compression_of_bytes(beginning: bytes) -> str:
    """Return the ending of the compression that the first bytes of a file prove, or an empty string."""
    return next((ending for ending, pattern in _COMPRESSED_BEGINNINGS.items() if pattern.match(beginning)), "")


def may_begin(beginning: bytes, ending: str) -> bool:
    """Return whether the first bytes can be those of a truncated or damaged file of a compression."""
    fixed = _FIXED_BYTES[ending]
    return beginning[: len(fixed)] == fixed[: len(beginning)]


def compression_of_name(name: str) -> str:
    """Return the compression ending of a file name, or an empty string."""
    name = name.lower()
    return next((ending for ending in COMPRESSION_ENDINGS if name.endswith(ending)), "")

"""Refusal of files whose content is of another kind than their name says.

An option of the user beats the bytes, and bytes that prove what they are beat a name.
"""

from bitcipher.errors import BitcipherError
from pipelines.ingest.content_kinds import BEGINNING_BYTES, ContentKind, identify_content
from pipelines.ingest.read_options import ReadOptions
from pipelines.ingest.readers.byte_streams import open_decompressed
from pipelines.ingest.sources import Source

# Names of formats in sentences.
NAMES = {
    "text": "plain text",
    "jsonl": "JSON lines",
    "parquet": "Parquet",
    "arrow": "Arrow",
    "wet": "a WET file",
    "warc": "a WARC file",
    "arc": "an ARC file",
}


def check_kind(source: Source, options: ReadOptions, kind: ContentKind | None) -> None:
    """Check that the kind of a content is that of its format, unless the user has given the format.

    Raises:
        BitcipherError: if it is of another kind.
    """
    if kind is None or options.format is not None or source.format in kind.formats:
        return
    advice = f"give `--format {kind.formats[0]}`" if kind.formats else kind.advice
    if source.format == "text":
        advice += ", or give `--format text` to read it as plain text"
    raise BitcipherError(f"{source.uri} is {kind.noun}, and its name is that of {NAMES[source.format]}: {advice}.")


def check_content(source: Source, options: ReadOptions) -> None:
    """Check the first bytes of a source that could not be read in its format.

    Raises:
        BitcipherError: if they prove that it is of another kind.
    """
    try:
        with open_decompressed(source) as stream:
            beginning = stream.read(BEGINNING_BYTES)
    except BitcipherError:
        return  # its compressed data is damaged, which the reader reports
    kind = identify_content(beginning)
    if kind is not None and source.format not in kind.formats and options.format is not None:
        raise BitcipherError(f"{source.uri} is {kind.noun}, not {NAMES[source.format]}: give another `--format`.")
    check_kind(source, options, kind)

"""Recognition of plain text with wrapped lines, such as books of Project Gutenberg, where a line is no document."""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from pipelines.ingest.read_options import ReadOptions
from pipelines.ingest.readers.text_encoding import open_text
from pipelines.ingest.sources import Source

# Number of bytes at the beginning of a source that are examined.
SAMPLE_BYTES = 1 << 18
# Minimum number of lines of a paragraph, without the last ones, for a decision.
MIN_LINES = 20
# Bounds of the number of characters per line of wrapped text.
MIN_WIDTH, MAX_WIDTH = 40, 120
# Wrapped lines are almost as long as the longest ones: most have at least this share of its length. Of text with a
# sentence per line, less than half do.
FILLED_SHARE = 0.75


def find_wrapped(sources: Sequence[Source], options: ReadOptions) -> Source | None:
    """Return a source of plain text whose lines are documents, but look wrapped; None if there is none.

    The beginnings of the first, the middle and the last source of plain text are read.

    Raises:
        BitcipherError: if a source cannot be read.
    """
    texts = [source for source in sources if source.format == "text" and source.size]
    if options.document != "line" or not texts:
        return None
    sample = {at: texts[at] for at in (0, len(texts) // 2, len(texts) - 1)}
    return next((source for source in sample.values() if has_wrapped_lines(_read_beginning(source, options))), None)


def describe_wrapped(sources: Sequence[Source], options: ReadOptions, option: str = "document") -> str | None:
    """Return a sentence about plain text whose lines are documents, but look wrapped; None if there is none.

    Args:
        sources: sources to read.
        options: options of the readers.
        option: name of the option that makes a file one document.

    Raises:
        BitcipherError: if a source cannot be read.
    """
    wrapped = find_wrapped(sources, options)
    if wrapped is None:
        return None
    return (
        f"{wrapped.uri} looks like text with wrapped lines, and each line is a document. Set `{option}` to file, or "
        "give one document per line."
    )


def has_wrapped_lines(text: str) -> bool:
    """Return whether the lines of a text are wrapped, and blank lines separate its paragraphs.

    >>> has_wrapped_lines("Call me Ishmael. Some years ago, never mind how long\\nprecisely.\\n")  # too short to decide
    False
    """
    lines = [line.strip() for line in text.split("\n")]
    # The last line of a paragraph can have any length.
    widths = np.array([len(line) for line, following in pairwise(lines) if line and following])
    if len(widths) < MIN_LINES or "" not in lines[:-1]:
        return False
    width = np.quantile(widths, 0.98)
    is_filled = np.quantile(widths, 1 / 3) >= FILLED_SHARE * width
    return bool(MIN_WIDTH <= width <= MAX_WIDTH and is_filled)


def _read_beginning(source: Source, options: ReadOptions) -> str:
    with open_text(source, options) as (stream, _):
        beginning = stream.read(SAMPLE_BYTES)
    # The last line may be cut.
    return beginning.decode(errors="replace").rpartition("\n")[0]

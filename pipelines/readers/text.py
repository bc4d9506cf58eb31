"""Plain text in UTF-8: a document a line, or a document a file."""

from collections.abc import Iterator

from pipelines.readers import ReadOptions
from pipelines.readers.opening import opened
from pipelines.sources import Source


def read(source: Source, options: ReadOptions) -> Iterator[str]:
    """The lines of a file without their endings, or the file as a whole.

    A line ends with a line feed, or a carriage return and a line feed, and with nothing else: U+2028 and its
    like occur inside documents. Bytes that are not UTF-8 become U+FFFD.
    """
    with opened(source) as stream:
        if options.document == "file":
            yield stream.read().decode(errors="replace")
            return
        for line in stream:
            yield line.removesuffix(b"\n").removesuffix(b"\r").decode(errors="replace")

"""Lists of files as CommonCrawl publishes them, such as `wet.paths.gz`: one path per line."""

import re
from collections.abc import Iterator
from typing import IO, Any

from isal import igzip, isal_zlib

from bitcipher import storage
from bitcipher.errors import BitcipherError
from bitcipher.http_files import is_url

ENDINGS = (".paths", ".paths.gz")

# Server of paths that begin with `crawl-data/`. Other paths are relative to the folder of the list.
COMMONCRAWL = "https://data.commoncrawl.org/"

MAX_PATHS = 1_000_000
MAX_PATH_BYTES = 1 << 12


def expand_list(pattern: str) -> Iterator[str]:
    """Yield the paths and URIs in a list of files, or the pattern itself if it is no list.

    Raises:
        BitcipherError: if the list cannot be read, is damaged, or has a line that is not a path, or too many lines.
    """
    path = without_query(pattern)
    if not path.lower().endswith(ENDINGS):
        yield pattern
        return
    folder = path.rpartition("/")[0]
    with storage.reading(pattern) as stored:
        lines: Any = igzip.open(stored, "rb") if path.lower().endswith(".gz") else stored
        try:
            for number, entry in _iter_paths(lines, pattern):
                if number > MAX_PATHS:
                    raise BitcipherError(f"{pattern} has more than {MAX_PATHS:,} lines: split it into several lists.")
                yield _resolve(entry, folder)
        except (OSError, EOFError, isal_zlib.error) as error:  # pyright: ignore[reportGeneralTypeIssues] (isal's stub)
            raise BitcipherError(f"Cannot read {pattern}: {error}. Download it again.") from error


def _iter_paths(lines: IO[bytes], pattern: str) -> Iterator[tuple[int, str]]:
    number = 0
    while line := lines.readline(MAX_PATH_BYTES + 1):
        number += 1
        try:
            path = line.decode().strip()
        except UnicodeDecodeError:
            path = "\0"
        if len(line) > MAX_PATH_BYTES or not path.isprintable():
            raise BitcipherError(f"Line {number} of {pattern} is not a path: write one path or URI per line.")
        if path:
            yield number, path


def _resolve(path: str, folder: str) -> str:
    if "://" in path or path.startswith("/"):
        return path
    if path.startswith("crawl-data/"):
        return COMMONCRAWL + path
    return f"{folder}/{path}" if folder else path


def without_query(uri: str) -> str:
    """Return a web address without its query and fragment, and any other path or URI as it is.

    In object stores and on disks, a question mark is part of the name.
    """
    return re.split("[?#]", uri)[0] if is_url(uri) else uri

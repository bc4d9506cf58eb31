"""Lists of files as CommonCrawl publishes them, such as `wet.paths.gz`: one path per line."""

import re
from collections.abc import Iterator

from bitcipher.errors import BitcipherError
from bitcipher.http_files import is_url
from bitcipher.text_files import read_lines

ENDINGS = (".paths", ".paths.gz")

# Server of paths that begin with `crawl-data/`. Other paths are relative to the folder of the list.
COMMONCRAWL = "https://data.commoncrawl.org/"

MAX_PATHS = 1_000_000
MAX_PATH_LENGTH = 1 << 12
# Maximum size of a list, decompressed: a server can send a small file that becomes a large one. The lists of
# CommonCrawl have 14 MB.
MAX_LIST_BYTES = 1 << 28


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
    for number, line in enumerate(read_lines(pattern, max_bytes=MAX_LIST_BYTES), 1):
        entry = line.strip()
        if number > MAX_PATHS:
            raise BitcipherError(f"{pattern} has more than {MAX_PATHS:,} lines: split it into several lists.")
        if len(entry) > MAX_PATH_LENGTH or not entry.isprintable():
            raise BitcipherError(f"Line {number} of {pattern} is not a path: write one path or URI per line.")
        if entry:
            yield _resolve(entry, folder)


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

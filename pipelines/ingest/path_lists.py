"""Lists of files as CommonCrawl publishes them, such as `wet.paths.gz`: one path per line."""

from collections.abc import Iterator, Sequence

from bitcipher.errors import BitcipherError
from bitcipher.files import storage
from bitcipher.files.http_connection import Access
from bitcipher.files.http_files import open_list
from bitcipher.files.object_store import reader, translating_errors
from bitcipher.files.text_files import read_lines
from pipelines.ingest.outside_lists import OutsideList

ENDINGS = (".paths", ".paths.gz")

# Server of paths that begin with `crawl-data/`. Other paths are relative to the folder of the list.
COMMONCRAWL = "https://data.commoncrawl.org/"

MAX_PATHS = 1_000_000
MAX_PATH_LENGTH = 1 << 12
# Maximum size of a list, decompressed: a server can send a small file that becomes a large one. The lists of
# CommonCrawl have 14 MB.
MAX_LIST_BYTES = 1 << 28


def expand_list(pattern: str, protocols: Sequence[str] | None = None) -> list[str]:
    """Return the paths and URIs in a list of files, or the pattern itself if it is no list.

    Args:
        pattern: path or URI.
        protocols: protocols of other stores that a list from outside may name (see `OutsideList`); None if the user
            has no option for them.

    Raises:
        BitcipherError: if the list cannot be read, is damaged, has too many lines, or a line that is not a path or that
            a list from outside may not name.
    """
    uri = storage.without_query(pattern)
    if not uri.lower().endswith(ENDINGS):
        return [pattern]
    lines, access = _read(pattern)
    entries = [(number, _with_server(line)) for number, line in _check(lines, pattern)]
    if access is None and "::" not in uri and storage.local_path(uri) is not None:
        folder = uri.rpartition("/")[0]
        return [_relative_to(folder, entry) for _, entry in entries]
    return OutsideList(uri, access, protocols).resolve(entries, ENDINGS)


def _read(pattern: str) -> tuple[list[str], Access | None]:
    """Return the lines of a list, and what a list on a web server may reach."""
    if not storage.is_web_address(pattern):
        return read_lines(pattern, max_bytes=MAX_LIST_BYTES), None
    with translating_errors("read", pattern, is_local=False):
        opened = open_list(pattern)
    with reader(lambda: opened, pattern) as stream:
        lines = read_lines(pattern, max_bytes=MAX_LIST_BYTES, stored=stream)
        return lines, opened.access


def _check(lines: Sequence[str], pattern: str) -> Iterator[tuple[int, str]]:
    for number, line in enumerate(lines, 1):
        entry = line.strip()
        if number > MAX_PATHS:
            raise BitcipherError(f"{pattern} has more than {MAX_PATHS:,} lines: split it into several lists.")
        if len(entry) > MAX_PATH_LENGTH or not entry.isprintable():
            raise BitcipherError(f"Line {number} of {pattern} is not a path: write one path or URI per line.")
        if entry:
            yield number, entry


def _with_server(path: str) -> str:
    return COMMONCRAWL + path if path.startswith("crawl-data/") else path


def _relative_to(folder: str, path: str) -> str:
    return path if "://" in path or path.startswith("/") or not folder else f"{folder}/{path}"

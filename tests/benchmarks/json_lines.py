"""Writer of JSON lines in several files, compressed or not."""

from pathlib import Path
from typing import IO, Any, Self

import orjson
import pyarrow as pa
from isal import igzip

ENDINGS = (".json", ".json.gz", ".json.zst")


class JsonLinesWriter:
    """Writes records to files of about equal size, named 00000.json.gz and so on. The same records give the same bytes.

    Args:
        folder: folder of the files, which must not exist.
        file_bytes: stored bytes after which the next file begins.
        ending: one of ENDINGS.
    """

    def __init__(self, folder: Path, file_bytes: float, ending: str):
        folder.mkdir(parents=True)
        self.files = 0
        self.bytes = 0  # stored bytes of the finished files
        self._folder, self._file_bytes, self._ending = folder, file_bytes, ending
        self._file: IO[bytes] | None = None
        self._lines: Any = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self._close()

    def write(self, record: dict[str, str]) -> None:
        """Write a record as one line."""
        self.write_lines(orjson.dumps(record) + b"\n")

    def write_lines(self, lines: bytes) -> None:
        """Write complete lines."""
        if self._file is None:
            self._open()
        self._lines.write(lines)
        if self._file and self._file.tell() >= self._file_bytes:
            self._close()

    def _open(self) -> None:
        self._file = file = open(self._folder / f"{self.files:05d}{self._ending}", "wb")
        self.files += 1
        if self._ending.endswith(".gz"):
            self._lines = igzip.IGzipFile(filename="", mode="wb", compresslevel=1, fileobj=file, mtime=0)
        elif self._ending.endswith(".zst"):
            self._lines = pa.CompressedOutputStream(pa.PythonFile(file, "w"), "zstd")
        else:
            self._lines = file

    def _close(self) -> None:
        if self._file is None:
            return
        path = Path(self._file.name)
        self._lines.close()
        self._file.close()
        self._file = None
        self.bytes += path.stat().st_size

"""Output that never ends a command: characters that the terminal lacks, a closed pipe, a full disk.

Commands print after their work is done, so an error of the output must not look like an error of the work.
"""

import errno
import io
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from bitcipher.terminal import print_text


class _LossyFile(io.FileIO):
    """File that discards what it cannot write, and keeps the first error."""

    error: OSError | None = None

    def write(self, data: Any, /) -> int:
        """Write bytes, or discard them after an error."""
        if self.error is None:
            try:
                return super().write(data)
            except OSError as error:
                self.error = error
        return len(memoryview(data).cast("B"))


@contextmanager
def printing_what_is_possible() -> Iterator[None]:
    """Replace stdout and stderr by streams that raise no errors.

    Characters that their encoding lacks become escapes. What comes after the end of a pipe, as of
    `| head`, is discarded.

    Raises:
        SystemExit: with code 2, after one sentence on stderr, if stdout cannot be written for another reason.
    """
    before = sys.stdout, sys.stderr
    out, err = map(_make_lossy, before)
    sys.stdout, sys.stderr = out or before[0], err or before[1]
    exit: SystemExit | None = None
    try:
        yield
    except SystemExit as raised:
        exit = raised
    finally:
        for stream in filter(None, (out, err)):
            stream.flush()
        sys.stdout, sys.stderr = before
    error = _raw(out).error if out else None
    if error is not None and error.errno != errno.EPIPE and not (exit and exit.code):
        print_text(f"bitcipher: cannot print the output ({error.strerror}), but the command has ended.", err=True)
        raise SystemExit(2)
    if exit:
        raise exit


def _make_lossy(stream: Any) -> io.TextIOWrapper | None:
    """Return a stream to the same file, or None if it is not a file of the process, such as in a notebook."""
    if type(stream) is not io.TextIOWrapper or not isinstance(_raw(stream), io.FileIO):
        return None
    file = io.BufferedWriter(_LossyFile(stream.fileno(), "w", closefd=False))
    return io.TextIOWrapper(
        file,
        stream.encoding,
        "backslashreplace",
        line_buffering=stream.line_buffering,
        write_through=stream.write_through,
    )


def _raw(stream: io.TextIOWrapper) -> Any:
    return getattr(stream.buffer, "raw", stream.buffer)  # with PYTHONUNBUFFERED, there is no buffer

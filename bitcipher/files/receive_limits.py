"""Limits on servers: a minimum rate, and a maximum number of bytes around the content.

A server that sends a byte now and then never exceeds the time limit of a single read. Without these limits, it could
hold a job forever: with a slow body, slow headers, or interim responses (100 Continue) without an end.
"""

import io
import math
import time
from typing import Any, NamedTuple

import fsspec.config

from bitcipher.errors import BitcipherError

# Bytes that a server may send before and between the content: headers, interim responses, sizes of chunks, trailers.
HEAD_BYTES = 1 << 20


class RateLimit(NamedTuple):
    """Minimum rate of a connection."""

    min_bytes_per_second: float = 1000.0
    """Minimum average; 0 for none."""
    seconds: float = 300.0
    """Time over which the average is taken."""


def read_rate_limit() -> RateLimit:
    """Return the minimum rate of connections: that of fsspec's configuration, or the default.

    The options are `min_bytes_per_second` and `slow_seconds` of the protocol `http`, such as the variables
    FSSPEC_HTTP_MIN_BYTES_PER_SECOND and FSSPEC_HTTP_SLOW_SECONDS.

    Raises:
        BitcipherError: if an option is not a number, or out of bounds.
    """
    options = fsspec.config.conf.get("http", {})
    default = RateLimit()
    rate = _number(options.get("min_bytes_per_second", default.min_bytes_per_second))
    seconds = _number(options.get("slow_seconds", default.seconds))
    if rate is None or rate < 0:
        raise _wrong("min_bytes_per_second", "a number of at least 0", options)
    if seconds is None or seconds <= 0:
        raise _wrong("slow_seconds", "a number greater than 0", options)
    return RateLimit(rate, seconds)


def _number(value: Any) -> float | None:
    try:
        number = float(value)
    except (TypeError, ValueError):
        return None
    return number if math.isfinite(number) else None


def _wrong(name: str, expected: str, options: dict[str, Any]) -> BitcipherError:
    return BitcipherError(
        f"`{name}` of http in the configuration of fsspec (FSSPEC_HTTP_{name.upper()}) must be {expected}, got "
        f"{options[name]!r}."
    )


class LimitedReader(io.RawIOBase):
    """Stream of a socket that raises an error if the server is too slow, or sends more bytes than `allow` allows.

    Only the time in which it waits for the server counts, and not that in which nobody reads.

    Args:
        stream: the stream, with a time limit for each read.
        limit: minimum rate.
    """

    def __init__(self, stream: io.RawIOBase, limit: RateLimit):
        self._stream = stream
        self._limit = limit
        self._allowed = HEAD_BYTES
        self._waited = 0.0
        self._received = 0

    def allow(self, size: int) -> None:
        """Set the number of bytes that may be received from now on."""
        self._allowed = size

    def readable(self) -> bool:
        """Return true."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Receive up to the length of the buffer, and return the number of bytes."""
        if self._allowed <= 0:
            raise ConnectionError("the server sends more headers or trailers than are allowed")
        started = time.monotonic()
        count = int(self._stream.readinto(buffer) or 0)  # pyright: ignore[reportAttributeAccessIssue]
        self._waited += time.monotonic() - started
        self._received += count
        self._allowed -= count
        self._check_rate()
        return count

    def close(self) -> None:
        """Close the stream."""
        self._stream.close()
        super().close()

    def _check_rate(self) -> None:
        if self._waited < self._limit.seconds:
            return
        if self._received < self._limit.min_bytes_per_second * self._waited:
            raise TimeoutError(
                f"the server sent less than {self._limit.min_bytes_per_second:g} bytes per second for "
                f"{self._limit.seconds:g} seconds"
            )
        self._waited, self._received = 0.0, 0

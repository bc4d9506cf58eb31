"""Check that a Ray cluster answers at an address, because Ray itself waits for minutes if none does."""

import os
import socket

from bitcipher.errors import BitcipherError

# Maximum time in seconds to connect, and again for the answer.
TIMEOUT_SECONDS = 10

# First bytes of an HTTP/2 connection, which gRPC uses (RFC 9113, section 3.4), and an empty frame of settings.
_PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes([0, 0, 0, 4, 0, 0, 0, 0, 0])
# Each side begins with a frame of settings: 3 bytes of length, and the type.
_FRAME_HEADER_BYTES = 9
_SETTINGS = 4


def check_answers(address: str) -> None:
    """Check that a gRPC server answers at an address of Ray, such as 10.0.0.1:6379 or ray://head:10001.

    Names such as `auto` and invalid addresses are left to Ray, which handles them without a connection.

    Raises:
        BitcipherError: if there is no connection, or no answer of a gRPC server.
    """
    host, _, port = address.removeprefix("ray://").rpartition(":")
    if "/" in host or not host or not port.isdecimal():
        return
    has_tls = os.environ.get("RAY_USE_TLS", "0").lower() in ("1", "true")  # then the answer is encrypted
    try:
        with socket.create_connection((host.strip("[]"), int(port)), TIMEOUT_SECONDS) as connection:
            answers = has_tls or _answers_http2(connection)
    except (OSError, OverflowError, UnicodeError) as error:
        raise _unreachable(address, "no answer in time" if isinstance(error, TimeoutError) else str(error)) from None
    if not answers:
        raise _unreachable(address, "another server answers there")


def _answers_http2(connection: socket.socket) -> bool:
    connection.sendall(_PREFACE)
    answer = b""
    while len(answer) < _FRAME_HEADER_BYTES and (block := connection.recv(_FRAME_HEADER_BYTES)):
        answer += block
    return len(answer) >= _FRAME_HEADER_BYTES and answer[3] == _SETTINGS


def _unreachable(address: str, reason: str) -> BitcipherError:
    return BitcipherError(
        f"Cannot reach Ray at {address} ({reason}): check RAY_ADDRESS, and that Ray runs there (`ray status`)."
    )

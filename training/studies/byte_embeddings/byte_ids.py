"""Tokens as sequences of byte ids."""

from collections.abc import Sequence

import numpy as np

PADDING = 0
FIRST_BYTE = 1  # id of byte 0
BEGIN, END = 257, 258
# Rows of the table of bytes, as in El Boukkouri et al. (2020), who have four more special symbols.
ID_COUNT = 263
MAX_BYTES = 48  # of a token; with begin and end 50, as in the paper


def to_byte_ids(tokens: Sequence[str]) -> np.ndarray:
    """Return the byte ids of tokens: begin, the bytes of its UTF-8, end, and padding.

    Args:
        tokens: tokens as they are spelled in the vocabulary, such as "##ing". Bytes after the first `MAX_BYTES` are
            left out.

    Returns:
        [n, L] int64, with L for the longest token.

    >>> to_byte_ids(["a", "is"]).tolist()
    [[257, 98, 258, 0], [257, 106, 116, 258]]
    """
    rows = [token.encode("utf-8", "surrogatepass")[:MAX_BYTES] for token in tokens]
    ids = np.full((len(rows), 2 + max(map(len, rows), default=0)), PADDING, np.int64)
    for row, content in zip(ids, rows, strict=True):
        row[0] = BEGIN
        row[1 : 1 + len(content)] = np.frombuffer(content, np.uint8).astype(np.int64) + FIRST_BYTE
        row[1 + len(content)] = END
    return ids

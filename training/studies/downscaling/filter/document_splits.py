"""Assignment of documents to train, development and test parts, and random draws of spans.

Parts and draws are determined by hashes, so they do not depend on the order of documents or on workers.
"""

import hashlib
from collections.abc import Iterable
from heapq import nsmallest

TRAIN, DEVELOPMENT, TEST = PARTS = ("train", "development", "test")


def part_of(document: str, held_out_share: float) -> str:
    """Return the part of a document. Documents with the same text are in the same part.

    Args:
        document: text of the document.
        held_out_share: share of documents in the development part, and share of documents in the test part.
    """
    value = int.from_bytes(_hash(document), "big") / 2**64
    if value < held_out_share:
        return TEST
    return DEVELOPMENT if value < 2 * held_out_share else TRAIN


def draw_positions(positions: Iterable[int], number: int, seed: int, source: str) -> set[int]:
    """Draw positions of spans in a source without replacement: those with the smallest hashes.

    Args:
        positions: positions to draw from.
        number: number of positions to draw. If `positions` has fewer, all are drawn.
        seed: seed of the draw.
        source: SHA-256 of the source.
    """
    return set(nsmallest(number, positions, key=lambda position: _hash(f"{seed} {source} {position}")))


def _hash(text: str) -> bytes:
    return hashlib.blake2b(text.encode(errors="surrogatepass"), digest_size=8).digest()

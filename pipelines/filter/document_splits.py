"""Assignment of documents to train, development and test parts, and random draws, by hashes.

Hashes make both independent of the order of documents and of workers.
"""

import hashlib
from collections.abc import Iterable
from heapq import nsmallest

TRAIN, DEVELOPMENT, TEST = PARTS = ("train", "development", "test")


def part_of(document: str, held_out_share: float) -> str:
    """Return the part of a document, and so of all its spans, by its text; copies are in the same part.

    Args:
        document: text of the document.
        held_out_share: share of documents in the development part, and again in the test part.
    """
    value = int.from_bytes(_hash(document), "big") / 2**64
    if value < held_out_share:
        return TEST
    return DEVELOPMENT if value < 2 * held_out_share else TRAIN


def draw_positions(positions: Iterable[int], number: int, seed: int, source: str) -> set[int]:
    """Draw positions of spans in a source without replacement: those with the smallest hashes.

    Args:
        positions: positions to draw from.
        number: how many to draw; all if there are fewer.
        seed: seed of the draw.
        source: SHA-256 of the source.
    """
    return set(nsmallest(number, positions, key=lambda position: _hash(f"{seed} {source} {position}")))


def _hash(text: str) -> bytes:
    return hashlib.blake2b(text.encode(errors="surrogatepass"), digest_size=8).digest()

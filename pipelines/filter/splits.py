"""Which part a document is of, and which spans the twin has: by hashes, so that nothing depends on order or workers."""

import hashlib
from collections.abc import Iterable
from heapq import nsmallest

TRAIN, DEVELOPMENT, TEST = PARTS = ("train", "development", "test")


def part_of(document: str, held_out_share: float) -> str:
    """The part of a document and all that is cut from it, by its text: copies are in the same part.

    Args:
        document: its text.
        held_out_share: of the documents that are in the development part, and of those in the test part.
    """
    place = int.from_bytes(_hash(document), "big") / 2**64
    if place < held_out_share:
        return TEST
    return DEVELOPMENT if place < 2 * held_out_share else TRAIN


def draw(positions: Iterable[int], number: int, seed: int, source: str) -> set[int]:
    """So many positions of spans in a source, or all where there are fewer: those whose hashes are smallest.

    Args:
        positions: numbers of spans within the source.
        number: how many to draw.
        seed: another one draws others.
        source: the SHA-256 of the source.
    """
    return set(nsmallest(number, positions, key=lambda position: _hash(f"{seed} {source} {position}")))


def _hash(text: str) -> bytes:
    return hashlib.blake2b(text.encode(errors="surrogatepass"), digest_size=8).digest()

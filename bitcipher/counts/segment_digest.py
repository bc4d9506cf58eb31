"""Digest of a stored segment, computed from its words and pairs."""

from collections.abc import Sequence

import numpy as np

from bitcipher.counts.digest import CountDigest, digest_pairs, digest_words, word_hashes
from bitcipher.counts.pairs import iter_pairs
from bitcipher.counts.segment import check_numbers, read_words


def digest_segment(parts: Sequence[str], total_passages: int) -> CountDigest:
    """Return the digest of a segment. All its files are read, one row group of pairs at a time.

    Args:
        parts: URIs of the parts.
        total_passages: number of passages of the segment's text.

    Raises:
        BitcipherError: if a file is missing or damaged.
    """
    words = read_words(parts)
    numbers = check_numbers(words["number"].to_numpy())
    hashes = word_hashes(words["word"].combine_chunks())
    digest = digest_words(hashes, words["count"].to_numpy(), words["passages"].to_numpy(), total_passages)
    hashes_by_number = np.empty_like(hashes)
    hashes_by_number[numbers] = hashes
    for part in parts:
        for block in iter_pairs(part, len(words)):
            digest += digest_pairs(block, hashes_by_number)
    return digest

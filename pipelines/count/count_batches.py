"""Slices of a shard: as much text as fits into memory at once, cut so that their counts add up to the shard's.

A document that goes on into the next slice is cut where a slice of 2,000 tokens ends, of which document counts are made
(SPEC 1). Its last tokens go along as context: what stands before the words of the next slice.
"""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from bitcipher.counts import PASSAGE_TOKENS, TokenizedShard
from pipelines.ingest.document_chunks import DocumentChunk
from pipelines.tokenizers import Tokenizer

_NO_WORDS = pa.array([], pa.large_string())


class CountBatch(NamedTuple):
    """Tokens to count at once."""

    tokens: TokenizedShard
    carried: int
    """How many of the first tokens were counted with the slice before: they are context only."""
    text_bytes: int
    documents: int
    """Documents that end here."""


def iter_batches(
    pieces: Iterable[DocumentChunk], tokenizer: Tokenizer, window: int, slice_bytes: int
) -> Iterator[CountBatch]:
    """Tokenise a shard slice by slice.

    Args:
        pieces: the documents of the shard, the last of them whole.
        tokenizer: what makes tokens.
        window: of the window: how many tokens of a document that goes on are context for what follows.
        slice_bytes: UTF-8 text of a slice; it is over by a piece at most.
    """
    carried = waiting = _NO_WORDS  # of the document that goes on: counted tokens, and those that are not yet
    for texts, continues, text_bytes in _batches(pieces, slice_bytes):
        tokens = tokenizer.tokenize(texts)
        ends = tokens.ends[~continues]
        before = pa.concat_arrays([carried, waiting])
        tokens = TokenizedShard(*_put_before(before, tokens), ends + len(before))
        context = len(carried)
        carried = waiting = _NO_WORDS
        if continues[-1]:
            # The document that goes on: what is counted now, in whole slices, and what waits.
            start = int(tokens.ends[-1]) if len(ends) else context
            stop = start + (len(tokens.ids) - start) // PASSAGE_TOKENS * PASSAGE_TOKENS
            first = max(stop - window, start if len(ends) else 0)
            carried = tokens.words.take(pa.array(tokens.ids[first:stop]))
            waiting = tokens.words.take(pa.array(tokens.ids[stop:]))
            tokens = TokenizedShard(tokens.words, tokens.ids[:stop], np.append(tokens.ends, stop))
        yield CountBatch(tokens, context, text_bytes, len(ends))


def _batches(
    pieces: Iterable[DocumentChunk], slice_bytes: int
) -> Iterator[tuple[pa.LargeStringArray, np.ndarray, int]]:
    """Pieces until they fill a slice: their texts, which of them go on in the next piece, and their bytes."""
    texts: list[bytes] = []
    continues: list[bool] = []
    size = 0
    for piece in pieces:
        texts.append(piece.text.encode())
        continues.append(piece.continues)
        size += len(texts[-1])
        if size >= slice_bytes:
            yield pa.array(texts, pa.large_string()), np.array(continues), size
            texts, continues, size = [], [], 0
    if texts:
        yield pa.array(texts, pa.large_string()), np.array(continues), size


def _put_before(words: pa.LargeStringArray, tokens: TokenizedShard) -> tuple[pa.LargeStringArray, np.ndarray]:
    """The words and numbers of tokens that begin with these words."""
    if not len(words):
        return tokens.words, tokens.ids
    new = pc.unique(words).filter(pc.invert(pc.is_in(pc.unique(words), tokens.words)))
    all_words = pa.concat_arrays([tokens.words, new])
    numbers = np.asarray(pc.index_in(words, all_words), np.int32)
    return all_words, np.concatenate([numbers, tokens.ids])

"""Count batches: parts of a shard that fit in memory. The counts of all batches add up to those of the shard.

A document that continues in the next batch is split at the end of a passage of 2,000 tokens, because passages are the
unit of document frequencies. The last tokens before the split are repeated in the next batch as left context.
"""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from bitcipher.counts.shard_counts import PASSAGE_TOKENS
from bitcipher.counts.tokenized_shard import TokenizedShard
from pipelines.ingest.document_chunks import DocumentChunk
from pipelines.tokenizers import Tokenizer

_NO_WORDS = pa.array([], pa.large_string())


class CountBatch(NamedTuple):
    """Tokens that are counted together."""

    tokens: TokenizedShard
    """The repeated tokens of the previous batch, followed by the tokens to count."""
    carried: int
    """Number of repeated tokens of the previous batch, which serve as left context only."""
    text_bytes: int
    """Number of bytes of UTF-8 text."""
    documents: int
    """Number of documents that end in the batch."""


def iter_batches(
    chunks: Iterable[DocumentChunk], tokenizer: Tokenizer, window: int, batch_bytes: int
) -> Iterator[CountBatch]:
    """Yield the tokenized batches of a shard.

    Args:
        chunks: the chunks of the shard. The last document is complete.
        tokenizer: tokenizer of the build.
        window: maximum number of tokens that a batch repeats from the preceding batch, if a document continues.
        batch_bytes: bytes of UTF-8 text per batch. A batch exceeds it by at most one chunk. It is smaller if it has
            more distinct words than the tokenizer has memory for.
    """
    carried = waiting = _NO_WORDS  # tokens of a document that continues: counted, and not yet counted
    for tokens, continues, text_bytes in _tokenize_groups(chunks, tokenizer, batch_bytes):
        ends = tokens.ends[~continues]
        before = pa.concat_arrays([carried, waiting])
        tokens = TokenizedShard(*_prepend(before, tokens), ends + len(before))
        context = len(carried)
        carried = waiting = _NO_WORDS
        if continues[-1]:
            # Count the whole passages of the document that continues, and keep its other tokens for the next batch.
            start = int(tokens.ends[-1]) if len(ends) else context
            stop = start + (len(tokens.ids) - start) // PASSAGE_TOKENS * PASSAGE_TOKENS
            first = max(stop - window, start if len(ends) else 0)
            carried = tokens.words.take(pa.array(tokens.ids[first:stop]))
            waiting = tokens.words.take(pa.array(tokens.ids[stop:]))
            tokens = TokenizedShard(tokens.words, tokens.ids[:stop], np.append(tokens.ends, stop))
        yield CountBatch(tokens, context, text_bytes, len(ends))


def _tokenize_groups(
    chunks: Iterable[DocumentChunk], tokenizer: Tokenizer, batch_bytes: int
) -> Iterator[tuple[TokenizedShard, np.ndarray, int]]:
    """Yield the tokens of the chunks of each batch, whether each chunk continues, and the number of bytes."""
    for texts, continues in _group_chunks(chunks, batch_bytes):
        while len(texts):
            tokens = tokenizer.tokenize(texts, in_part=True)
            done = len(tokens.ends)
            yield tokens, continues[:done], pc.sum(pc.binary_length(texts.slice(0, done))).as_py()
            texts, continues = texts.slice(done), continues[done:]


def _group_chunks(
    chunks: Iterable[DocumentChunk], batch_bytes: int
) -> Iterator[tuple[pa.LargeStringArray, np.ndarray]]:
    """Yield the texts of the chunks of each group, and whether each chunk continues."""
    texts: list[bytes] = []
    continues: list[bool] = []
    size = 0
    for chunk in chunks:
        texts.append(chunk.text.encode())
        continues.append(chunk.continues)
        size += len(texts[-1])
        if size >= batch_bytes:
            yield pa.array(texts, pa.large_string()), np.array(continues)
            texts, continues, size = [], [], 0
    if texts:
        yield pa.array(texts, pa.large_string()), np.array(continues)


def _prepend(words: pa.LargeStringArray, tokens: TokenizedShard) -> tuple[pa.LargeStringArray, np.ndarray]:
    """Return the distinct words and the ids of `words` followed by `tokens`."""
    if not len(words):
        return tokens.words, tokens.ids
    new = pc.unique(words).filter(pc.invert(pc.is_in(pc.unique(words), tokens.words)))
    all_words = pa.concat_arrays([tokens.words, new])
    ids = np.asarray(pc.index_in(words, all_words), np.int32)
    return all_words, np.concatenate([ids, tokens.ids])

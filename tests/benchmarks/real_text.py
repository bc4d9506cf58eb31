"""Real text as arrays, the input of the text generator."""

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import NamedTuple

import numpy as np
import orjson
import pyarrow as pa

from pipelines.tokenizers.registry import make_tokenizer

# A word is rare if it occurs at most this many times. Only rare words are respelled.
RARE_COUNT = 10

BATCH_DOCUMENTS = 500


class RealText(NamedTuple):
    """Documents as sequences of chunks, the strings between white space. C is the number of distinct chunks.

    Attributes:
        ids: (n,) int32, the chunks, document after document.
        ends: (documents,) int64, the end of each document in `ids`.
        texts, text_starts: uint8 and (C + 1,) int64, the chunks in JSON, and the start of each.
        chunk_tokens, chunk_starts: int32 and (C + 1,) int64, the words of each chunk, and the start of each chunk.
        word_texts, word_starts: uint8 and (words + 1,) int64, the words in JSON, and the start of each.
        cores: (C,) int32, a rare word in each chunk, or -1.
        core_places: (C, 2) int32, first and last byte of this word in the chunk.
    """

    ids: np.ndarray
    ends: np.ndarray
    texts: np.ndarray
    text_starts: np.ndarray
    chunk_tokens: np.ndarray
    chunk_starts: np.ndarray
    word_texts: np.ndarray
    word_starts: np.ndarray
    cores: np.ndarray
    core_places: np.ndarray

    @property
    def words(self) -> int:
        """Number of distinct words."""
        return len(self.word_starts) - 1


def read_real_text(documents: Iterable[str]) -> RealText:
    """Return documents as arrays. Words are the lowercased tokens of spaCy's English tokenizer."""
    splitter = make_tokenizer("whitespace", lowercase=False, max_chunks=1 << 40)
    ids, lengths, chunks = [], [], pa.array([], pa.large_string())
    for batch in _batched(iter(documents)):
        shard = splitter.tokenize(pa.array(batch, pa.large_string()))
        ids.append(shard.ids)
        lengths.append(np.diff(shard.ends, prepend=0))
        chunks = shard.words
    all_ids = np.concatenate(ids)
    tokens = make_tokenizer("spacy", lowercase=True, max_chunks=1 << 40).tokenize(chunks)
    chunk_starts = np.concatenate([np.zeros(1, np.int64), tokens.ends])
    frequencies = np.bincount(all_ids, minlength=len(chunks))
    counts = np.bincount(tokens.ids, weights=np.repeat(frequencies, np.diff(chunk_starts)), minlength=len(tokens.words))
    words, strings = tokens.words.to_pylist(), chunks.to_pylist()
    cores, places = _find_cores(strings, words, tokens.ids, chunk_starts, counts)
    texts, text_starts = _as_json(strings)
    word_texts, word_starts = _as_json(words)
    return RealText(
        all_ids,
        np.cumsum(np.concatenate(lengths)),
        texts,
        text_starts,
        tokens.ids,
        chunk_starts,
        word_texts,
        word_starts,
        cores,
        places,
    )


def _batched(documents: Iterator[str]) -> Iterator[list[str]]:
    while batch := list(islice(documents, BATCH_DOCUMENTS)):
        yield batch


def _find_cores(
    chunks: list[str], words: list[str], ids: np.ndarray, starts: np.ndarray, counts: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return the first rare word of letters of each chunk, and its place in the bytes of the chunk."""
    letters = np.array([word.isascii() and word.isalpha() for word in words], bool)
    is_rare = letters & (counts > 0) & (counts <= RARE_COUNT)
    cores, places = np.full(len(chunks), -1, np.int32), np.zeros((len(chunks), 2), np.int32)
    owners = np.repeat(np.arange(len(chunks)), np.diff(starts))
    for position in np.flatnonzero(is_rare[ids])[::-1]:  # the first one of a chunk is set last
        chunk, word = owners[position], words[ids[position]]
        lowered = chunks[chunk].lower()
        if lowered.isascii() and (place := lowered.find(word)) >= 0:
            # In JSON, a character before the word can take two bytes.
            before = len(orjson.dumps(chunks[chunk][:place])) - 2
            cores[chunk], places[chunk] = ids[position], (before, before + len(word))
    return cores, places


def _as_json(strings: list[str]) -> tuple[np.ndarray, np.ndarray]:
    """Return strings as they are written in JSON, without quotes, and the start of each."""
    encoded = [orjson.dumps(string)[1:-1] for string in strings]
    starts = np.concatenate([np.zeros(1, np.int64), np.cumsum([len(each) for each in encoded], dtype=np.int64)])
    return np.frombuffer(b"".join(encoded), np.uint8), starts

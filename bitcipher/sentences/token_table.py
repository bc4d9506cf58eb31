"""`make_token_table`: weighted vectors of words, and of the pieces into which unknown words are split."""

from collections.abc import Mapping

import numpy as np

from bitcipher.errors import BitcipherError
from bitcipher.formats.word_tokenizer import PIECE
from bitcipher.table.vector_table import VectorTable
from bitcipher.vocabulary import OOV

# Weight of a word: SMOOTHING / (SMOOTHING + share of the word among all tokens) (Arora et al. 2017, "A Simple but
# Tough-to-Beat Baseline for Sentence Embeddings").
SMOOTHING = 0.003

# Number of the most frequent words that can continue an unknown word, and their weight there.
PIECES = 20_000
PIECE_WEIGHT = 0.5

# Rows that are scaled at a time.
ROWS = 1 << 14


def make_token_table(vectors: VectorTable, counts: Mapping[str, int] | None) -> VectorTable:
    """Return the vectors of tokens: of the words, of `<oov>` if they lack it, and of pieces.

    The vector of a word has its weight as length. That of a piece is the one of the same word, with the length
    `PIECE_WEIGHT`. `<oov>` and pieces of one character, which only complete words, have zeros.

    Args:
        vectors: vectors of words.
        counts: occurrences of words, for vectors without counts.

    Raises:
        BitcipherError: if neither the vectors nor `counts` say how frequent words are.
    """
    words, norms = vectors.index_to_key, np.where(vectors.norms > 0, vectors.norms, 1)
    known = vectors.key_to_index.keys() | {OOV}
    continuing = [row for row, word in enumerate(words[:PIECES]) if len(word) > 1 and PIECE + word not in known]
    continuing = [row for row in continuing if words[row] != OOV]
    characters = sorted({PIECE + character for word in words for character in word} - known)
    names = [*words, *([OOV] if OOV not in vectors else []), *(PIECE + words[row] for row in continuing), *characters]
    rows = np.zeros((len(names), vectors.vector_size), np.float32)
    weights = _weights(vectors, counts) / norms
    if OOV in vectors:
        weights[vectors.key_to_index[OOV]] = 0
    _scale(vectors.vectors, weights, rows)
    first = len(names) - len(characters) - len(continuing)
    _scale(vectors.vectors[continuing], PIECE_WEIGHT / norms[continuing], rows[first:])
    return VectorTable(names, rows)


def _scale(table: np.ndarray, scales: np.ndarray, rows: np.ndarray) -> None:
    """Write the rows of a table, multiplied by a number each, to the first rows of another one."""
    scales = scales.astype(np.float32)[:, None]
    for start in range(0, len(table), ROWS):
        block = slice(start, min(start + ROWS, len(table)))
        np.multiply(table[block], scales[block], out=rows[block])


def _weights(vectors: VectorTable, counts: Mapping[str, int] | None) -> np.ndarray:
    """Return the weight of each word, (N,) float64."""
    if counts is not None:
        numbers, total = np.array([counts.get(word, 0) for word in vectors.index_to_key]), sum(counts.values())
    elif vectors.counts is not None:
        numbers, total = vectors.counts, int(vectors.counts.sum())
    else:
        raise BitcipherError(
            "The vectors have no counts of words, by which sentences weight them: pass `counts` to "
            "`SentenceEncoder.from_vectors`, such as those of a build."
        )
    if total <= 0 or (numbers < 0).any():
        raise BitcipherError("The counts of words must be at least 0, and their sum above 0.")
    return SMOOTHING / (SMOOTHING + numbers / total)

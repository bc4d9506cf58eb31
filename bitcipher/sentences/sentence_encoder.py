"""`SentenceEncoder`: embeddings of sentences as weighted means of word vectors."""

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Literal

import numpy as np
from scipy.sparse import csr_array
from threadpoolctl import threadpool_limits

from bitcipher.errors import BitcipherError
from bitcipher.formats.tokenizer_name import tokenizer_name
from bitcipher.sentences.encoder_folder import StoredEncoder, read_encoder, write_encoder
from bitcipher.sentences.token_finder import TokenFinder
from bitcipher.sentences.whitening import whitening
from bitcipher.table import VectorTable
from bitcipher.vocabulary import OOV

if TYPE_CHECKING:
    from bitcipher.spelling import Spelling

# Weight of a word: SMOOTHING / (SMOOTHING + share of the word among all tokens) (Arora et al. 2017, "A Simple but
# Tough-to-Beat Baseline for Sentence Embeddings").
SMOOTHING = 0.003

# A batch of sentences ends at one of these limits.
BATCH_SENTENCES = 4096
BATCH_CHARACTERS = 1 << 20

# Rows that are scaled or multiplied at a time.
ROWS = 1 << 14

SentenceOov = Literal[False, "spelling"]
"""Unknown words of a sentence have no influence (False), or a vector from their character n-grams ("spelling")."""


class SentenceEncoder:
    """Embeddings of sentences: weighted means of the unit vectors of their words, scaled to length 1.

    A weight falls with the frequency of a word. `from_vectors` makes an encoder, and `fit` adapts it to sentences like
    those to compare.

    >>> from bitcipher import CipherVectors
    >>> words = ["the", "cat", "dog", "sleeps", "runs", "<oov>"]
    >>> table = [[1, 1, 1], [3, 0, 1], [3, 1, 0], [0, 3, 0], [0, 2, 2], [1, 0, 0]]
    >>> vectors = CipherVectors(words, table, counts=[900, 30, 30, 20, 10, 10])
    >>> encoder = SentenceEncoder.from_vectors(vectors)
    >>> cat, dog = encoder.encode(["The cat sleeps.", "A dog sleeps!"])
    >>> round(float(cat @ dog), 2)
    0.98
    """

    def __init__(self, stored: StoredEncoder):
        self._stored = stored
        self._tokens = TokenFinder(stored.table.index_to_key, stored.whitespace_only)

    @classmethod
    def from_vectors(
        cls, vectors: VectorTable, counts: Mapping[str, int] | None = None, oov: SentenceOov = False
    ) -> "SentenceEncoder":
        """Return an encoder from vectors of words.

        Args:
            vectors: the vectors. `<oov>` has no influence on sentences.
            counts: occurrences of words in a large text, for vectors without counts, such as those of a word2vec file.
                Words that it lacks count as rare.
            oov: whether unknown words get a vector from their spelling ("spelling"), or have no influence (False).

        Raises:
            BitcipherError: if neither the vectors nor `counts` say how frequent words are, or if `oov` is "spelling"
                and the vectors have no n-grams.
        """
        if oov not in (False, "spelling"):
            raise BitcipherError(f'`oov` must be False or "spelling", got {oov!r}.')
        spelling = _require_spelling(vectors) if oov else None
        words = vectors.index_to_key
        scales = _weights(vectors, counts) / np.where(vectors.norms > 0, vectors.norms, 1)
        scales = np.where(np.array(words, object) == OOV, 0, scales).astype(np.float32)
        rows = np.empty(vectors.vectors.shape, np.float32)
        for start in range(0, len(rows), ROWS):
            block = slice(start, start + ROWS)
            np.multiply(vectors.vectors[block], scales[block, None], out=rows[block])
        if OOV not in vectors.key_to_index:
            words, rows = [*words, OOV], np.vstack([rows, np.zeros((1, vectors.vector_size), np.float32)])
        transform = np.eye(vectors.vector_size, dtype=np.float32)
        return cls(
            StoredEncoder(VectorTable(words, rows), tokenizer_name(vectors) == "whitespace", spelling, transform)
        )

    @threadpool_limits.wrap(limits=1)  # BLAS sums depend on the number of threads
    def fit(self, sentences: Iterable[str]) -> "SentenceEncoder":
        """Return an encoder for sentences like these, in which directions that they share count less.

        It improves cosines, and does not change what a linear classifier can learn from the embeddings.

        Args:
            sentences: unlabeled sentences, at least about a hundred.

        Raises:
            BitcipherError: if no sentence has a known word.
        """
        moments = np.zeros((self.vector_size, self.vector_size))
        for batch in _batches(_check_sentences(sentences)):
            block = self._encode(batch).astype(np.float64)
            moments += block.T @ block
        if not moments.any():
            raise BitcipherError("`fit` needs sentences with words of the vectors, and got none.")
        stored, transform = self._stored, whitening(moments)
        table = VectorTable(stored.table.words, _multiply(np.asarray(stored.table.vectors), transform))
        spelling_transform = _multiply(stored.spelling_transform, transform)
        return SentenceEncoder(stored._replace(table=table, spelling_transform=spelling_transform))

    def encode(self, sentences: str | Iterable[str]) -> np.ndarray:
        """Return embeddings of length 1, (n, d) float32; (d,) for a single string, as in sentence-transformers.

        The embedding of a sentence without known words is zero.

        Raises:
            BitcipherError: if an element is not a string, or not valid Unicode.
        """
        if isinstance(sentences, str):
            return self._encode([sentences])[0]
        sentences, start = _check_sentences(sentences), 0
        embeddings = np.empty((len(sentences), self.vector_size), np.float32)
        for batch in _batches(sentences):
            embeddings[start : start + len(batch)] = self._encode(batch)
            start += len(batch)
        return embeddings

    @property
    def vector_size(self) -> int:
        """Number of dimensions."""
        return self._stored.table.vector_size

    def save(self, uri: str | os.PathLike[str]) -> None:
        """Write the encoder to a folder, which sentence-transformers and model2vec open, too.

        They give the same embeddings, except for unknown words if the encoder has `oov="spelling"`. Equal encoders
        give equal bytes.

        Args:
            uri: a local path or a URI that fsspec supports. It must not exist.

        Raises:
            BitcipherError: if `uri` exists, or cannot be written.
        """
        write_encoder(os.fspath(uri), self._stored)

    @classmethod
    def load(cls, uri: str | os.PathLike[str]) -> "SentenceEncoder":
        """Open a folder that `save` wrote.

        Raises:
            BitcipherError: if `uri` is no such folder, or is damaged.
        """
        return cls(read_encoder(os.fspath(uri)))

    def _encode(self, sentences: Sequence[str]) -> np.ndarray:
        tokens = self._tokens.find(sentences)
        sums = _sum_rows(tokens.rows, tokens.starts, np.asarray(self._stored.table.vectors))
        if self._stored.spelling is not None and tokens.unknown:
            rows = self._stored.spelling.predict(tokens.unknown)
            numbers = np.arange(len(rows))
            sums += _multiply(_sum_rows(numbers, tokens.unknown_starts, rows), self._stored.spelling_transform)
        norms = np.sqrt(np.einsum("ij,ij->i", sums, sums, dtype=np.float64))[:, None]
        return np.divide(sums, norms, out=np.zeros_like(sums), where=norms > 0, casting="same_kind")


def _sum_rows(rows: np.ndarray, starts: np.ndarray, table: np.ndarray) -> np.ndarray:
    """Return the sum of the rows of each sentence, (n, d) float32. A sentence's sum does not depend on the others."""
    return csr_array((np.ones(len(rows), np.float32), rows, starts), shape=(len(starts) - 1, len(table))) @ table


@threadpool_limits.wrap(limits=1)  # BLAS sums depend on the number of threads
def _multiply(table: np.ndarray, transform: np.ndarray) -> np.ndarray:
    """Return the product of a table and a (d, d) matrix, in blocks of rows."""
    result = np.empty(table.shape, np.float32)
    for start in range(0, len(table), ROWS):
        np.matmul(table[start : start + ROWS], transform, out=result[start : start + ROWS])
    return result


def _require_spelling(vectors: VectorTable) -> "Spelling":
    from bitcipher.spelling import Spelling  # which loads numba

    spelling = Spelling.from_arrays(vectors.refinement)
    if spelling is None:
        raise BitcipherError(
            'The vectors have no n-grams, which `oov="spelling"` needs: make them with a `spelling_share` above 0, or '
            "use `CipherVectors.with_spelling`."
        )
    return spelling


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


def _check_sentences(sentences: Iterable[str]) -> list[str]:
    if isinstance(sentences, str | bytes) or not isinstance(sentences, Iterable):
        raise BitcipherError(f"`sentences` must be a list of strings, got {type(sentences).__name__}.")
    sentences = list(sentences)
    for number, sentence in enumerate(sentences):
        if not isinstance(sentence, str):
            raise BitcipherError(f"`sentences` must hold strings, got {type(sentence).__name__} at position {number}.")
    return sentences


def _batches(sentences: list[str]) -> Iterator[list[str]]:
    batch, characters = [], 0
    for sentence in sentences:
        batch.append(sentence)
        characters += len(sentence)
        if len(batch) == BATCH_SENTENCES or characters >= BATCH_CHARACTERS:
            yield batch
            batch, characters = [], 0
    if batch:
        yield batch

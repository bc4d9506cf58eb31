"""`SentenceEncoder`: embeddings of sentences as weighted means of word vectors."""

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np
from scipy.sparse import csr_array
from threadpoolctl import threadpool_limits

from bitcipher.errors import BitcipherError
from bitcipher.formats.tokenizer_name import tokenizer_name
from bitcipher.sentences.encoder_folder import StoredEncoder, read_encoder, write_encoder
from bitcipher.sentences.token_finder import TokenFinder
from bitcipher.sentences.token_table import ROWS, make_token_table
from bitcipher.sentences.whitening import whitening
from bitcipher.table.vector_table import VectorTable

# A batch of sentences ends at one of these limits.
BATCH_SENTENCES = 4096
BATCH_CHARACTERS = 1 << 20


class SentenceEncoder:
    """Embeddings of sentences: weighted means of the vectors of their words, scaled to length 1.

    The weight of a word falls with its frequency. `from_vectors` makes an encoder, and `fit` adapts it to sentences
    like those to compare.

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
    def from_vectors(cls, vectors: VectorTable, counts: Mapping[str, int] | None = None) -> "SentenceEncoder":
        """Return an encoder from vectors of words, most frequent first.

        Args:
            vectors: the vectors. `<oov>` has no influence on sentences.
            counts: occurrences of words in a large text, for vectors without counts, such as those of a word2vec file.
                Words that it lacks count as rare.

        Raises:
            BitcipherError: if neither the vectors nor `counts` say how frequent words are.
        """
        return cls(StoredEncoder(make_token_table(vectors, counts), tokenizer_name(vectors) == "whitespace"))

    @threadpool_limits.wrap(limits=1)  # BLAS sums depend on the number of threads
    def fit(self, sentences: Iterable[str]) -> "SentenceEncoder":
        """Return an encoder for sentences like these, in which directions that they share count less.

        It improves cosines, but not the accuracy of linear classifiers.

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
        table, transform = self._stored.table, whitening(moments)
        rows = np.empty(table.vectors.shape, np.float32)
        for start in range(0, len(rows), ROWS):
            np.matmul(table.vectors[start : start + ROWS], transform, out=rows[start : start + ROWS])
        return SentenceEncoder(self._stored._replace(table=VectorTable(table.words, rows)))

    def encode(self, sentences: str | Iterable[str]) -> np.ndarray:
        """Return embeddings of length 1, (n, d) float32; (d,) for a single string, as in sentence-transformers.

        The embedding of a sentence without known words or pieces is zero.

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
        """Write the encoder to a folder. sentence-transformers and model2vec open it and give the same embeddings.

        Equal encoders give equal bytes.

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
        rows, starts = self._tokens.find(sentences)
        table = self._stored.table.vectors
        sums = csr_array((np.ones(len(rows), np.float32), rows, starts), shape=(len(sentences), len(table))) @ table
        norms = np.sqrt(np.einsum("ij,ij->i", sums, sums, dtype=np.float64))[:, None]
        return np.divide(sums, norms, out=np.zeros_like(sums), where=norms > 0, casting="same_kind")


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

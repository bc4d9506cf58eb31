"""`CipherVectors`: the table that a build ends in, and that is saved, loaded and asked."""

import os
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from bitcipher.vectors.lookup_errors import Key
from bitcipher.vectors.similarity import WordSimilarity
from bitcipher.vectors.vector_files import Content, read_folder, write_folder
from bitcipher.versions import vectors_of

if TYPE_CHECKING:
    from gensim.models import KeyedVectors

    from bitcipher.counts import MergedCounts
    from bitcipher.evaluation import AnalogiesResult, WordPairsResult
    from bitcipher.explain import Explanation


class CipherVectors(WordSimilarity):
    """Words in order of rank with their vectors, what new vectors are made with, and where it all comes from.

    The verbs have gensim's names and meanings; `bitcipher.vectors.similarity` names the few differences.
    A verb that meets an unknown word raises `UnknownWordError`, unless it is called with `oov=True`: then the
    word counts as `<oov>`, the entry that all words outside the vocabulary share.

    Args:
        words: (N,) the words in order of rank, each once, `<oov>` among them if the table has that entry.
        vectors: (N, d) float32, also a memory map; not copied, and read-only through this class.
        counts: (N,) int64, occurrences of each word.
        passages: (N,) int64, passages that hold each word.
        refinement: arrays that new words are mapped with, such as the mean and the matrix of a whitening.
        manifest: where the vectors come from: what JSON can hold.

    Raises:
        BitcipherError: if words are missing or doubled, or if the sizes do not agree.

    >>> import numpy as np
    >>> vectors = CipherVectors(
    ...     ["the", "cat", "dog", "<oov>"],
    ...     np.array([[-1, 1], [3, 4], [4, 3], [1, 1]], np.float32),
    ...     counts=[9, 5, 4, 2],
    ... )
    >>> vectors
    CipherVectors(4 words, 2 dimensions)
    >>> vectors["cat"]
    array([3., 4.], dtype=float32)
    >>> [(word, round(cosine, 2)) for word, cosine in vectors.most_similar("cat")]
    [('dog', 0.96), ('the', 0.14)]
    >>> round(vectors.similarity("cat", "unicorn", oov=True), 2)
    0.99
    >>> vectors.doesnt_match(["cat", "dog", "the"]), vectors.get_vecattr("dog", "count")
    ('the', 4)
    >>> vectors["Cat"]
    Traceback (most recent call last):
    ...
    bitcipher.errors.UnknownWordError: The word 'Cat' is not among the 4 words of the table \
(close to it: 'cat'); ask with oov=True to get the vector of <oov> for it.
    """

    def save(self, uri: str | os.PathLike[str], overwrite: bool = False) -> None:
        """Write the table as one folder, which appears under its name only when it is whole.

        It holds `vectors.safetensors`, `words.parquet`, `refinement.safetensors` if there is a refinement,
        and `manifest.json`. The same table gives the same bytes.

        Args:
            uri: a local path or whatever fsspec reaches.
            overwrite: whether to replace a folder of vectors that is already there.

        Raises:
            BitcipherError: if something is already there, if it cannot be written, or if JSON cannot hold the
                manifest.

        >>> import numpy as np
        >>> CipherVectors(["cat", "<oov>"], np.eye(2)).save("memory://doctest/cat", overwrite=True)
        >>> CipherVectors.load("memory://doctest/cat").index_to_key
        ['cat', '<oov>']
        """
        content = Content(self.words, self.vectors, self.counts, self.passages, self.refinement, self.manifest)
        write_folder(os.fspath(uri), content, overwrite)

    @classmethod
    def load(cls, uri: str | os.PathLike[str], mmap: bool = True) -> "CipherVectors":
        """Open a folder that `save` wrote, or the newest version of a build.

        All sizes, types and shapes are checked, and the SHA-256 of all that is read whole. Vectors that are
        mapped into memory are not read, so of them only the size, type and shape are checked.

        Args:
            uri: a local path or whatever fsspec reaches.
            mmap: whether to map the vectors of a local folder into memory, read-only, instead of reading
                them.

        Raises:
            BitcipherError: if it is not such a folder, is of another version, or is damaged.
        """
        return cls(*read_folder(vectors_of(os.fspath(uri)), mmap))

    @classmethod
    def read(cls, uri: str | os.PathLike[str], format: str | None = None) -> "CipherVectors":
        """Read a file or folder of another library, such as word2vec's, GloVe's or fastText's, or of `save`.

        Args:
            uri: a local path or whatever fsspec reaches; a file may be compressed by gzip.
            format: a name of `bitcipher.formats.FORMATS`, if it is not to be found out.

        Raises:
            BitcipherError: if there is nothing there, it is of no known format, or it is damaged.
        """
        from bitcipher.formats import read

        return read(uri, format)

    def export(self, format: str, target: str | os.PathLike[str]) -> None:
        """Write a file or folder that another library opens; the same table gives the same bytes.

        Args:
            format: a name of `bitcipher.formats.FORMATS`.
            target: a local path or whatever fsspec reaches, where nothing is yet.

        Raises:
            BitcipherError: if something is there, or if the format cannot carry one of the words.
        """
        from bitcipher.formats import write

        write(self, format, target)

    @classmethod
    def from_gensim(cls, keyed_vectors: "KeyedVectors") -> "CipherVectors":
        """A copy of a table of gensim's, with its counts if it has them.

        Raises:
            BitcipherError: if it is no `KeyedVectors`: of a model of gensim, give its `wv`.
        """
        from bitcipher.formats.gensim_vectors import from_gensim

        return from_gensim(keyed_vectors)

    def to_gensim(self) -> "KeyedVectors":
        """A copy in gensim's class, with the attributes "count" and "passages" where the table has them.

        Raises:
            BitcipherError: if gensim is not installed.
        """
        from bitcipher.formats.gensim_vectors import to_gensim

        return to_gensim(self)

    def evaluate_word_pairs(
        self,
        pairs: str | os.PathLike[str],
        delimiter: str | None = None,
        restrict_vocab: int | None = 300_000,
        case_insensitive: bool = True,
        dummy4unknown: bool = False,
    ) -> "WordPairsResult":
        """Compare cosines with people's scores of similarity; see `bitcipher.evaluation.evaluate_word_pairs`.

        Raises:
            BitcipherError: if the file is missing or damaged, or if the table holds next to none of its pairs.
        """
        from bitcipher.evaluation import evaluate_word_pairs

        return evaluate_word_pairs(self, pairs, delimiter, restrict_vocab, case_insensitive, dummy4unknown)

    def evaluate_word_analogies(
        self,
        analogies: str | os.PathLike[str],
        restrict_vocab: int | None = 300_000,
        case_insensitive: bool = True,
        dummy4unknown: bool = False,
    ) -> "AnalogiesResult":
        """Ask questions of analogy by 3CosAdd; see `bitcipher.evaluation.evaluate_word_analogies`.

        Raises:
            BitcipherError: if the file is missing or damaged, or if the table holds all words of no question.
        """
        from bitcipher.evaluation import evaluate_word_analogies

        return evaluate_word_analogies(self, analogies, restrict_vocab, case_insensitive, dummy4unknown)

    def explain(self, word: Key, other: Key | None = None, topn: int = 10, *, counts: "MergedCounts") -> "Explanation":
        """Which context words put a vector where it is, or make two words alike; see `bitcipher.explain.Explainer`.

        Raises:
            BitcipherError: if the table does not say how it was made, is of mode cipher, or was made of other counts.
            UnknownWordError: if a word has no row.
        """
        from bitcipher.explain import explain

        return explain(self, counts, word, other, topn)

    def infer(self, contexts: Iterable[Sequence[str]], word: str, counts: "MergedCounts | None" = None) -> np.ndarray:
        """The vector of a new word from sentences that hold it, (d,) float32; see `bitcipher.infer.infer`.

        Raises:
            BitcipherError: if the sentences say nothing about the word, if the table does not say how it was made, or
                if counts are needed.
        """
        from bitcipher.infer import infer

        return infer(self, contexts, word, counts)

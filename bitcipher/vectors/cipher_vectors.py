"""`CipherVectors`: the vectors of a build, with gensim's methods, file formats, evaluation and explanations."""

import os
from collections.abc import Iterable, Sequence
from functools import cached_property
from html import escape
from typing import TYPE_CHECKING

import numpy as np

from bitcipher.errors import BitcipherError
from bitcipher.table.keys import Key, Oov
from bitcipher.vectors.document_distance import DocumentDistance
from bitcipher.vectors.editable_vectors import EditableVectors
from bitcipher.vectors.similarity import WordSimilarity
from bitcipher.vectors.stored_vectors import StoredVectors

if TYPE_CHECKING:
    from bitcipher.counts.merged_counts import MergedCounts
    from bitcipher.evaluation.analogies import AnalogiesResult
    from bitcipher.evaluation.word_pairs import WordPairsResult
    from bitcipher.explain.contributions import Explanation
    from bitcipher.sentences.sentence_encoder import SentenceEncoder

# Words that a notebook shows of a table.
SHOWN_WORDS = 5

# Methods import formats, evaluation, explain, infer and sentences when they are called, so that loading and querying
# vectors does not load numba, SciPy or a file format.


class CipherVectors(WordSimilarity, DocumentDistance, EditableVectors, StoredVectors):
    """Word vectors in order of rank, with their counts and provenance.

    The methods have gensim's names and meanings; `bitcipher.vectors.similarity` lists the few differences. An unknown
    word raises `UnknownWordError`, unless `oov=True` is passed: then the word gets the vector of `<oov>`, the entry
    that all words outside the vocabulary share.

    Args:
        words: (N,) unique words in order of rank. `<oov>` is among them if the table has that entry.
        vectors: (N, d) float32, possibly a memory map. The array is not copied, and is read-only through this class.
            Other libraries can ignore that: pass them a copy, such as `torch.tensor(vectors.vectors)`.
        counts: (N,) int64, occurrences of each word.
        passages: (N,) int64, passages that contain each word.
        refinement: arrays that map the contexts of new words to vectors, such as the mean and matrix of a whitening.
        manifest: provenance of the vectors, as values that JSON can hold.

    Raises:
        BitcipherError: if words are missing or repeated, the sizes do not agree, or a value is not finite.

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
    bitcipher.errors.UnknownWordError: The word 'Cat' is not in the vocabulary of 4 words \
(close spellings: 'cat'). Pass oov=True to use the vector of <oov> instead.
    """

    def _repr_html_(self) -> str:
        """Return a table of the first words for notebooks, with their counts if known."""
        columns = {name: column for name, column in self.expandos.items() if name in ("count", "passages")}
        rows = [
            [word, *(f"{column[row]:,}" for column in columns.values()), f"{self.norms[row]:.3g}"]
            for row, word in enumerate(self.index_to_key[:SHOWN_WORDS])
        ]
        head = "".join(f"<th>{name}</th>" for name in ("word", *columns, "length"))
        body = "".join(f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in cells)}</tr>" for cells in rows)
        return f"<p>{escape(repr(self))}</p><table><tr>{head}</tr>{body}</table>"

    def evaluate_word_pairs(
        self,
        pairs: str | os.PathLike[str],
        delimiter: str | None = None,
        restrict_vocab: int | None = 300_000,
        case_insensitive: bool = True,
        dummy4unknown: bool = False,
        oov: Oov = False,
    ) -> "WordPairsResult":
        """Correlate cosines with human similarity scores; see `bitcipher.evaluation.word_pairs.evaluate_word_pairs`.

        Raises:
            BitcipherError: if the file is missing or damaged, or if the vocabulary covers fewer than two pairs.
        """
        from bitcipher.evaluation.word_pairs import evaluate_word_pairs

        return evaluate_word_pairs(self, pairs, delimiter, restrict_vocab, case_insensitive, dummy4unknown, oov)

    def evaluate_word_analogies(
        self,
        analogies: str | os.PathLike[str],
        restrict_vocab: int | None = 300_000,
        case_insensitive: bool = True,
        dummy4unknown: bool = False,
    ) -> "AnalogiesResult":
        """Answer analogy questions by 3CosAdd; see `bitcipher.evaluation.analogies.evaluate_word_analogies`.

        Raises:
            BitcipherError: if the file is missing or damaged, or if the vocabulary covers none of the questions.
        """
        from bitcipher.evaluation.analogies import evaluate_word_analogies

        return evaluate_word_analogies(self, analogies, restrict_vocab, case_insensitive, dummy4unknown)

    def explain(self, word: Key, other: Key | None = None, topn: int = 10, *, counts: "MergedCounts") -> "Explanation":
        """Return the contributions of context words to a vector or a similarity; see `bitcipher.explain.explainer`.

        Raises:
            BitcipherError: if the provenance is unknown, the mode is cipher, or the vectors were made from other
                counts.
            UnknownWordError: if a word has no row.
        """
        from bitcipher.explain.explainer import explain

        return explain(self, counts, word, other, topn)

    def with_spelling(self, share: float = 0.5) -> "CipherVectors":
        """Return vectors that also depend on the spelling of words, and give a vector to any string.

        Vectors are scaled to length 1. n-gram vectors are fitted to those of the most frequent words, see
        `bitcipher.spelling`. Vectors of a build have this if they were made with `spelling_share`; this method is for
        vectors of other tools.

        Args:
            share: share of the spelling in the vector of a frequent word, above 0 and at most 1, relative to 1 for its
                vector so far. It is larger for rare words, if the vectors have counts. Small shares change frequent
                words little.

        Raises:
            BitcipherError: if the share is out of bounds, or the vectors depend on the spelling already.

        >>> import numpy as np
        >>> words = [stem + ending for stem in ("walk", "talk", "jump", "laugh") for ending in ("s", "ed", "ing")]
        >>> table = np.hstack([np.repeat(np.eye(4), 3, axis=0), np.tile(np.eye(3), (4, 1))])
        >>> vectors = CipherVectors(words, table).with_spelling()
        >>> sorted(word for word, _ in vectors.most_similar("leaping", topn=4, oov="spelling"))
        ['jumping', 'laughing', 'talking', 'walking']
        """
        from bitcipher.spelling.spelling import Spelling

        if not 0 < share <= 1:
            raise BitcipherError(f"`share` must be above 0 and at most 1, got {share!r}.")
        if self.spelling:
            raise BitcipherError("These vectors depend on the spelling already: use them as they are.")
        units = self.get_normed_vectors()
        spelling = Spelling.fit(self.words, units, self.counts, share)
        arrays = {**(self.refinement or {}), **spelling.to_arrays()}
        table = spelling.add_to(units, self.words, self.counts)
        return CipherVectors(self.words, table, self.counts, self.passages, arrays, self.manifest)

    def encode(self, sentences: str | Iterable[str]) -> np.ndarray:
        """Return embeddings of sentences: weighted means of the vectors of their words; see `bitcipher.sentences`.

        Args:
            sentences: a list of sentences, or one.

        Returns:
            Embeddings of length 1, (n, d) float32; (d,) for one sentence. Zeros for a sentence without known words.

        Raises:
            BitcipherError: if an element is not a string, or the vectors have no counts.
        """
        return self._sentence_encoder.encode(sentences)

    @cached_property
    def _sentence_encoder(self) -> "SentenceEncoder":
        from bitcipher.sentences.sentence_encoder import SentenceEncoder

        return SentenceEncoder.from_vectors(self)

    def _forget_counts(self) -> None:
        super()._forget_counts()
        self._forget(CipherVectors._sentence_encoder)  # it weights words by their counts

    def infer(
        self, contexts: Iterable[Sequence[str]], word: str, *, counts: "MergedCounts | None" = None
    ) -> np.ndarray:
        """Return the vector of a new word from sentences that contain it, (d,) float32; see `infer.inference`.

        Raises:
            BitcipherError: if the sentences give the word no context, the provenance is unknown, or `counts` is
                required but missing.
        """
        from bitcipher.infer.inference import infer

        return infer(self, contexts, word, counts)

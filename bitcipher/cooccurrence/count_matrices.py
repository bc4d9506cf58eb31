"""`CountMatrices`: the counts of a build's version as a table of words and sparse matrices."""

from collections.abc import Iterable
from functools import cached_property
from typing import TYPE_CHECKING, Literal

import numpy as np
import pyarrow as pa

from bitcipher.cooccurrence.word_ranks import find_ranks
from bitcipher.cores import available_cores
from bitcipher.counts.context_window import ContextWindow
from bitcipher.counts.merged_counts import MergedCounts
from bitcipher.counts.merged_segments import open_merged
from bitcipher.counts.segment_ranks import RankFinder
from bitcipher.counts.vocabulary_file import VocabularyFile
from bitcipher.embedding.spectral.ppmi import Marginals
from bitcipher.errors import BitcipherError
from bitcipher.files import storage
from bitcipher.rows.symmetric_counts import stream_marginals
from bitcipher.version_manifest import CountedVersion
from bitcipher.versions import WORDS
from bitcipher.vocabulary import Vocabulary

if TYPE_CHECKING:
    from scipy.sparse import csr_array


class CountMatrices:
    """Vocabulary and co-occurrence counts of a version of a build. `Build` extends it.

    Opening a build reads only its manifest and the table of its segments. Each call of `cooccurrence` reads the stored
    counts again.

    Attributes:
        uri: folder of the build.
        version: number of the version.
        window: the largest counted offset.
        summed: whether the counts of all offsets were added up while counting.
    """

    def __init__(self, uri: str, manifest: CountedVersion):
        self.uri = uri
        self.version = manifest.version
        self.window = manifest.options.window
        self.summed = manifest.options.summed
        self._words = VocabularyFile(storage.join(uri, manifest.folder, WORDS), manifest.digests.words)
        self._segments = manifest.part_uris(uri)

    def __repr__(self) -> str:
        """URI and version."""
        return f"{type(self).__name__}({self.uri!r}, version={self.version})"

    @cached_property
    def vocabulary(self) -> pa.Table:
        """Words in order of rank, with the columns of `words.parquet`.

        The columns are word (string), count (int64, occurrences) and passages (int64, the document frequency: number of
        passages of at most 2,000 tokens that contain the word). `<oov>`, which all words outside the vocabulary share,
        has a row like any other word.
        """
        return self._words.table()

    def cooccurrence(
        self,
        offset: int | None = None,
        words: Iterable[str] | None = None,
        weighting: Literal["counts", "ppmi"] = "counts",
    ) -> "csr_array":
        """Return the co-occurrence matrix of words, (n, n).

        Entry (i, j) is the number of times that word j occurs at distance `offset` from word i in the same document.
        Positive offsets are to the right: `cooccurrence(1)[i, j]` counts "i j". The matrix of -o is the transpose of
        that of o. Rows and columns have the order of `vocabulary`. Occurrences outside the vocabulary are counted in
        the row and the column of `<oov>`, as for vectors.

        The weights "ppmi" are those of mode spectral, computed from all pairs of the build, whatever `words` are:
        positive pointwise mutual information (Levy & Goldberg 2014), reduced for small counts (Pantel & Lin 2002).
        For a single offset, the counts of context words (columns) are raised to the power 0.75 in their probabilities
        (Levy, Goldberg & Dagan 2015). Columns of the sum have the exponent 1. See
        `bitcipher.embedding.spectral.ppmi`.

        Args:
            offset: distance between the words, -window … -1 or 1 … window. By default, the counts of all these offsets
                are added up, so the matrix is symmetric.
            words: words of the rows and columns, in this order; by default all. Pairs with other words are left out.
            weighting: "counts" for int64 counts, or "ppmi" for float32 weights.

        Raises:
            UnknownWordError: if a word is not in the vocabulary.
            BitcipherError: if the offset was not counted, a word is repeated, the weighting is unknown, or a file is
                damaged.
        """
        # Not imported above, because SciPy's sparse arrays take 0.1 s, and explanations do not need them.
        from bitcipher.cooccurrence.count_matrix import read_counts_among, read_forward_counts
        from bitcipher.cooccurrence.ppmi_matrix import ppmi_matrix

        self._check_offset(offset)
        if weighting not in ("counts", "ppmi"):
            raise BitcipherError(f"`weighting` must be 'counts' or 'ppmi', got {weighting!r}.")
        vocabulary, distance = self._ranked_words, None if offset is None else abs(offset)
        size, oov = len(vocabulary), vocabulary.oov_rank
        if words is None:
            ranks = np.arange(size, dtype=np.int32)
            counts = read_forward_counts(self._segments, self._segment_ranks, size, oov, distance)
        else:
            ranks = find_ranks(words, vocabulary)
            shared = int(np.flatnonzero(ranks == oov)[0]) if oov in ranks else -1
            threads = available_cores()
            counts = read_counts_among(self._segments, self._segment_ranks, ranks, size, shared, distance, threads)
        if offset is None:
            counts += counts.T
        elif offset < 0:
            counts = counts.T.tocsr()
        return counts if weighting == "counts" else ppmi_matrix(counts, ranks, offset, self._marginals)

    @cached_property
    def _ranked_words(self) -> Vocabulary:
        return Vocabulary.from_table(self.vocabulary)

    @cached_property
    def _segment_ranks(self) -> list[np.ndarray]:
        """Rank of each word number of each segment."""
        return [*map(RankFinder(self._ranked_words).find_all, self._segments)]

    @cached_property
    def merged_counts(self) -> MergedCounts:
        """The counts of all segments, which are added up as they are read, by rows of the vocabulary."""
        window = ContextWindow(self.window, self.summed)
        threads = available_cores()
        return open_merged(self._ranked_words, window, self._segments, threads, lambda: self._segment_ranks)

    @cached_property
    def _marginals(self) -> Marginals:
        """Number of pairs of each word of the vocabulary, which takes one pass over the counts."""
        return stream_marginals(self.merged_counts, self.window)

    def _check_offset(self, offset: int | None) -> None:
        if offset is None:
            return
        if self.summed:
            raise BitcipherError(
                f"{self.uri} was built with `summed`, so its counts have no offsets: leave out `offset`, or build it "
                "without `summed`."
            )
        if not isinstance(offset, int | np.integer) or not 1 <= abs(offset) <= self.window:
            raise BitcipherError(
                f"`offset` must be between -{self.window} and -1 or between 1 and {self.window}, got {offset}."
            )

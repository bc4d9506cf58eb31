"""`infer`: computes the vector of a word from sentences, in the same way as the vectors of the table."""

from collections.abc import Iterable, Sequence

import numpy as np
import pyarrow as pa
from threadpoolctl import threadpool_limits

from bitcipher.counts.merged_counts import MergedCounts
from bitcipher.embedding.cipher_embedding import CipherEmbedding
from bitcipher.embedding.refinement import Refinement
from bitcipher.embedding.spectral.basis import Basis
from bitcipher.embedding.spectral.ppmi import DISCOUNT, Marginals, offset_of, opposite_block
from bitcipher.embedding.spectral.spectral_embedding import SpectralEmbedding
from bitcipher.errors import BitcipherError
from bitcipher.infer.context_counts import count_contexts
from bitcipher.rows.cipher_rows import CipherRows
from bitcipher.rows.context_vectors import ContextVectors
from bitcipher.rows.provenance import Provenance, check_counts_match, read_provenance
from bitcipher.rows.word_rows import ContextCounts
from bitcipher.spelling.spelling import Spelling
from bitcipher.table.cosines import unit
from bitcipher.table.vector_table import VectorTable
from bitcipher.vocabulary import OOV, Vocabulary


def infer(
    vectors: VectorTable,
    contexts: Iterable[Sequence[str]],
    word: str,
    counts: MergedCounts | None = None,
    context_vectors: ContextVectors | None = None,
) -> np.ndarray:
    """Return the vector of a word from sentences that contain it, and from its spelling if the table has n-grams.

    Given all sentences of a word in the vocabulary, the result is its own vector.

    Args:
        vectors: vectors of a build, of mode cat, sum or spectral.
        contexts: sentences or documents as sequences of tokens, tokenized as in the build. Windows do not cross
            their ends.
        word: the token to infer a vector for. Every occurrence counts.
        counts: the counts that the vectors were made from. Mode spectral needs them. The noise `document_share` needs
            them if the manifest has no `total_passages`.
        context_vectors: those of the folder of the vectors, in mode spectral. Without them, all counts are read.

    Returns:
        Vector of length 1, (d,) float32; zeros if none of the contexts has a weight in the build.

    Raises:
        BitcipherError: if the sentences give the word no context, if the provenance of the vectors is unknown, or if
            `counts` is required but missing.
    """
    if counts is not None:
        check_counts_match(vectors, counts)
    if OOV not in vectors.key_to_index:
        raise BitcipherError(f"The table has no {OOV} for unknown context words: use the vectors of a build.")
    provenance = read_provenance(vectors, "inferred")
    embedding, spelling = provenance.embedding, Spelling.from_arrays(vectors.refinement)
    # Whether offsets are added up first makes a difference only if logs of counts are taken.
    takes_logs = isinstance(embedding, CipherEmbedding) and embedding.log == "counts"
    sum_offsets = takes_logs and provenance.summed
    row, occurrences = count_contexts(contexts, word, provenance.window, vectors.key_to_index, sum_offsets)
    if isinstance(embedding, CipherEmbedding):
        vocabulary = counts.vocabulary if counts else _make_vocabulary(vectors, embedding.noise, provenance)
        return _infer_cipher(embedding, provenance, row, vocabulary)
    if counts is None:
        raise BitcipherError("Inference in mode spectral needs the counts of the build: pass `counts`.")
    vector = _infer_spectral(embedding, provenance, row, counts, context_vectors)
    if spelling is None:
        return vector
    return spelling.add_to(vector[None], pa.array([word], pa.large_string()), np.array([occurrences]))[0]


def _infer_cipher(
    embedding: CipherEmbedding, provenance: Provenance, row: ContextCounts, vocabulary: Vocabulary
) -> np.ndarray:
    code = CipherRows(embedding, vocabulary)
    refinement = Refinement()
    refinement.mean_, refinement.matrix_ = provenance.arrays["mean"], provenance.arrays["matrix"]
    return refinement.transform(code.raw_row(code.sums(row))[None])[0]


@threadpool_limits.wrap(limits=1)  # BLAS sums depend on the number of threads
def _infer_spectral(
    embedding: SpectralEmbedding,
    provenance: Provenance,
    row: ContextCounts,
    counts: MergedCounts,
    context_vectors: ContextVectors | None,
) -> np.ndarray:
    basis = Basis.from_arrays(provenance.arrays)
    columns = basis.columns(counts.vocabulary)
    if context_vectors is None:
        context_vectors = ContextVectors.from_counts(counts, provenance.window, basis, embedding)
    marginals = context_vectors.marginals
    total = np.zeros(context_vectors.vector_size)
    for block in context_vectors.blocks:
        offset = offset_of(block, len(marginals.sums))
        in_block = row.offsets == offset if offset else slice(None)
        if not row.offsets[in_block].size:
            continue
        contexts, inverse = np.unique(row.contexts[in_block], return_inverse=True)
        pair_counts = np.bincount(inverse, row.counts[in_block], len(contexts))
        weights = _weight_contexts(contexts, pair_counts, block, marginals)
        used = (weights > 0) & (columns[contexts] >= 0)
        total += context_vectors.combine(block, columns[contexts[used]], weights[used])
    return unit(total).astype(np.float32)


def _weight_contexts(contexts: np.ndarray, pair_counts: np.ndarray, block: int, marginals: Marginals) -> np.ndarray:
    """Return the weights of one word's pairs in a block, as `bitcipher.embedding.spectral.kernels` computes them.

    The number of pairs of the word is that of its sentences. The numbers of pairs of the context words are those of the
    corpus, whether it contains these sentences or not.

    Args:
        contexts: (n,) int64, ranks of the context words.
        pair_counts: (n,) float64, count of each pair in the sentences.
        block: the block of the weighted matrix.
        marginals: number of pairs of each word in the corpus.

    Returns:
        (n,) float64.
    """
    word_sum = pair_counts.sum()
    opposite = opposite_block(block, len(marginals.sums))
    context_sums = marginals.sums[opposite][contexts]
    seen = context_sums > 0
    weights = np.zeros(len(contexts))
    weights[seen] = np.log(pair_counts[seen]) - np.log(word_sum) - marginals.terms[opposite, contexts[seen], 1]
    rarer = np.minimum(word_sum, context_sums)
    return np.maximum(weights, 0) * (pair_counts / (pair_counts + DISCOUNT)) * (rarer / (rarer + DISCOUNT))


def _make_vocabulary(vectors: VectorTable, noise: str, provenance: Provenance) -> Vocabulary:
    """Return the vocabulary of the build, with the counts that its noise needs.

    Raises:
        BitcipherError: if the table lacks the counts that the noise needs.
    """
    total = provenance.total_passages
    if noise == "none":
        zeros = np.zeros(len(vectors), np.int64)
        return Vocabulary(vectors.words, zeros, zeros, 0)
    if vectors.counts is None or vectors.passages is None or (noise == "document_share" and total is None):
        raise BitcipherError("These vectors lack the passage counts that their noise needs: pass `counts`.")
    return Vocabulary(vectors.words, vectors.counts, vectors.passages, total or 0)

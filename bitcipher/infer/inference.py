"""From the sentences around a word to its vector, with what a table has kept of how it was made."""

from collections.abc import Iterable, Sequence

import numpy as np

from bitcipher.counts.merged_counts import MergedCounts
from bitcipher.embedding import CipherEmbedding, Refinement
from bitcipher.embedding.spectral.ppmi import DISCOUNT, Marginals, mirror_of
from bitcipher.errors import BitcipherError
from bitcipher.infer.context_counts import row_of_contexts
from bitcipher.rows import CipherRows, Provenance, Row, SpectralRows, check_belonging, provenance_of
from bitcipher.vectors.cosines import unit
from bitcipher.vectors.lookup import WordLookup
from bitcipher.vocabulary import OOV, Vocabulary


def infer(
    vectors: WordLookup, contexts: Iterable[Sequence[str]], word: str, counts: MergedCounts | None = None
) -> np.ndarray:
    """The vector of a word from sentences that hold it, made as the table's own were.

    A word of the vocabulary gets its own vector from all of its own sentences.

    Args:
        vectors: a table of a build, of mode cat, sum or spectral.
        contexts: sentences or documents as sequences of tokens, tokenized as the build's; windows end where they do.
        word: the token that is meant; every occurrence counts.
        counts: what the table was made of. Mode spectral needs them, and noise by the share of passages too, unless
            the table's manifest holds `total_passages`.

    Returns:
        (d,) float32 of length 1.

    Raises:
        BitcipherError: if the sentences say nothing about the word, if the table does not say how it was made, or if
            counts are needed.
    """
    if counts is not None:
        check_belonging(vectors, counts)
    if OOV not in vectors.key_to_index:
        raise BitcipherError(f"The table has no {OOV}, which unknown words count as: take the vectors of a build.")
    origin = provenance_of(vectors, "inferred")
    # Only the logs of counts tell apart what was added up and what was not.
    logs = isinstance(origin.embedding, CipherEmbedding) and origin.embedding.log == "counts"
    row = row_of_contexts(contexts, word, origin.window, vectors.key_to_index, logs and origin.summed)
    if isinstance(origin.embedding, CipherEmbedding):
        return _by_ciphers(origin, row, counts.vocabulary if counts else _vocabulary_of(vectors, origin.embedding))
    if counts is None:
        raise BitcipherError("A vector of mode spectral is inferred from the counts of the build: give them.")
    return _by_spectrum(origin, row, counts)


def _by_ciphers(origin: Provenance, row: Row, vocabulary: Vocabulary) -> np.ndarray:
    code = CipherRows(origin.embedding, vocabulary)
    refinement = Refinement()
    refinement.mean_, refinement.matrix_ = origin.arrays["mean"], origin.arrays["matrix"]
    return refinement.transform(code.raw(code.sums(row))[None])[0]


def _by_spectrum(origin: Provenance, row: Row, counts: MergedCounts) -> np.ndarray:
    chosen = np.zeros(len(counts.vocabulary), bool)
    chosen[row.contexts] = True
    rows = SpectralRows(counts, origin.window, chosen)
    total = np.zeros(origin.arrays["directions"].shape[1])
    scales = origin.embedding.scales(rows.blocks)
    for block in np.flatnonzero(scales):
        offset = rows.offset_of(block)
        inside = row.offsets == offset if offset else slice(None)
        if not row.offsets[inside].size:
            continue
        contexts, places = np.unique(row.contexts[inside], return_inverse=True)
        numbers = np.bincount(places, row.counts[inside], len(contexts))
        weights = _weights(contexts, numbers, block, rows.marginals)
        # A context that the build has only seen beside others has no row, and no weight.
        known = weights > 0
        told = rows.told(block, origin.arrays["directions"])[rows.places[contexts[known]]]
        total += scales[block] * (weights[known] @ told.astype(np.float64))
    return unit(total).astype(np.float32)


def _weights(contexts: np.ndarray, numbers: np.ndarray, block: int, marginals: Marginals) -> np.ndarray:
    """The weights of one word's pairs in a block, as `bitcipher.embedding.spectral.kernels.weigh` gives them.

    How often the word itself stands beside anything is taken from its sentences, and what is usual of the contexts
    from the corpus as it is, whether it holds these sentences or not.
    """
    own = numbers.sum()
    usual = marginals.sums[mirror_of(block, len(marginals.sums))][contexts]
    seen = usual > 0
    weights = np.zeros(len(contexts))
    weights[seen] = np.log(numbers[seen]) - np.log(own) - marginals.log_shares[block][contexts[seen]]
    rarer = np.minimum(own, usual)
    return np.maximum(weights, 0) * (numbers / (numbers + DISCOUNT)) * (rarer / (rarer + DISCOUNT))


def _vocabulary_of(vectors: WordLookup, embedding: CipherEmbedding) -> Vocabulary:
    """The vocabulary that a table was made of, as far as its noise needs it.

    Raises:
        BitcipherError: if the table does not keep it.
    """
    total = vectors.manifest.get("total_passages")
    if embedding.noise == "none":
        zeros = np.zeros(len(vectors), np.int64)
        return Vocabulary(vectors.words, zeros, zeros, 0)
    if vectors.counts is None or vectors.passages is None or (embedding.noise == "document_share" and total is None):
        raise BitcipherError("These vectors do not say how many passages they were made of: give the build's counts.")
    return Vocabulary(vectors.words, vectors.counts, vectors.passages, total or 0)

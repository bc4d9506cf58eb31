"""A small text, its counts, and vectors made from them."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from bitcipher import CipherEmbedding, CipherVectors, Refinement, Vocabulary
from bitcipher.counts.context_window import ContextWindow
from bitcipher.counts.merge import merge_rows, renumber
from bitcipher.counts.merged_counts import MergedCounts
from bitcipher.counts.shard_counts import count_shard
from bitcipher.counts.tokenized_shard import TokenizedShard
from bitcipher.embedding.spectral.spectral_embedding import SpectralEmbedding
from pipelines.options import EmbeddingOptions


def small_text(documents: int = 60, words: int = 300) -> list[list[str]]:
    """Return documents of 5 to 200 tokens, each with its own topic words; the first 20 words occur in all of them."""
    random = np.random.default_rng(20)
    names = np.array([f"w{number}" for number in range(words)])
    result = []
    for _ in range(documents):
        topic = np.concatenate([np.arange(20), random.choice(np.arange(20, words), 40, replace=False)])
        ranks = np.minimum(random.zipf(1.4, random.integers(5, 200)), len(topic)) - 1
        result.append(names[topic[ranks]].tolist())
    return result


def merge_counts(documents: Sequence[Sequence[str]], context_window: ContextWindow, min_count: int = 2) -> MergedCounts:
    """Return the merged counts of documents."""
    shard = count_shard(TokenizedShard.from_documents(documents), context_window)
    vocabulary = Vocabulary.from_counts(
        shard.words, shard.counts, shard.passages, shard.total_passages, min_count=min_count
    )
    ranks = vocabulary.ranks(shard.words)[np.argsort(shard.numbers)]
    blocks = [renumber(block, ranks) for block in shard.pairs]
    return MergedCounts.from_rows(
        vocabulary, context_window, merge_rows(blocks, vocabulary.row_order(), vocabulary.oov_rank)
    )


def make_vectors(counts: MergedCounts, **chosen: Any) -> CipherVectors:
    """Return the vectors of counts, of mode cat by default, with the manifest of a build."""
    sizes = {} if chosen.get("mode") == "spectral" else {"bits": 9}
    options = EmbeddingOptions(**{"mode": "cat", "window": counts.context_window.size, **sizes, **chosen})
    embedding, vocabulary = options.estimator(), counts.vocabulary
    if isinstance(embedding, SpectralEmbedding):
        spectrum = embedding.table(counts, options.window)
        table = spectrum.table
        norms = np.linalg.norm(table.astype(np.float64), axis=1, keepdims=True)
        table, refinement_arrays = table / np.where(norms > 0, norms, 1), spectrum.basis.to_arrays()
    else:
        assert isinstance(embedding, CipherEmbedding)
        refinement = Refinement()
        table = refinement.fit_transform(embedding.table(counts))
        refinement_arrays = {"mean": refinement.mean_, "matrix": refinement.matrix_}
    manifest = {"embedding": options.to_dict(), "options": {"summed": counts.context_window.summed}}
    vectors = CipherVectors(
        vocabulary.words, table, vocabulary.counts, vocabulary.passages, refinement_arrays, manifest
    )
    is_spelled = isinstance(embedding, SpectralEmbedding) and options.spelling_share
    return vectors.with_spelling(options.spelling_share) if is_spelled else vectors

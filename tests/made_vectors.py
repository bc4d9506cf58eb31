"""Vectors of a small text with the counts that they were made of."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from bitcipher import CipherEmbedding, CipherVectors, Refinement, Vocabulary
from bitcipher.counts import ContextWindow, MergedCounts, TokenizedShard, count_shard, merge_rows, renumber
from bitcipher.embedding.spectral import SpectralEmbedding
from pipelines.options import EmbeddingOptions


def small_text(documents: int = 60, words: int = 300) -> list[list[str]]:
    """Documents of 5 to 200 tokens, each about some of the words; the first 20 words are everywhere."""
    random = np.random.default_rng(20)
    names = np.array([f"w{number}" for number in range(words)])
    result = []
    for _ in range(documents):
        topic = np.concatenate([np.arange(20), random.choice(np.arange(20, words), 40, replace=False)])
        ranks = np.minimum(random.zipf(1.4, random.integers(5, 200)), len(topic)) - 1
        result.append(names[topic[ranks]].tolist())
    return result


def counted(documents: Sequence[Sequence[str]], context_window: ContextWindow, min_count: int = 2) -> MergedCounts:
    """The counts of documents."""
    shard = count_shard(TokenizedShard.from_documents(documents), context_window)
    vocabulary = Vocabulary.from_counts(
        shard.words, shard.counts, shard.passages, shard.total_passages, min_count=min_count
    )
    ranks = vocabulary.ranks(shard.words)[np.argsort(shard.numbers)]
    blocks = [renumber(block, ranks) for block in shard.pairs]
    return MergedCounts.from_rows(
        vocabulary, context_window, merge_rows(blocks, vocabulary.row_order(), vocabulary.oov_rank)
    )


def made(counts: MergedCounts, **chosen: Any) -> CipherVectors:
    """The vectors of counts, with the manifest that a build gives them; without a mode they are cat."""
    sizes = {} if chosen.get("mode") == "spectral" else {"bits": 9}
    options = EmbeddingOptions(**{"mode": "cat", "window": counts.context_window.size, **sizes, **chosen})
    embedding, vocabulary = options.estimator(), counts.vocabulary
    if isinstance(embedding, SpectralEmbedding):
        table, directions = embedding.table(counts, options.window)
        norms = np.linalg.norm(table.astype(np.float64), axis=1, keepdims=True)
        table, kept = table / np.where(norms > 0, norms, 1), {"directions": directions}
    else:
        assert isinstance(embedding, CipherEmbedding)
        refinement = Refinement()
        table = refinement.fit_transform(embedding.table(counts))
        kept = {"mean": refinement.mean_, "matrix": refinement.matrix_}
    manifest = {"embedding": options.to_dict(), "options": {"summed": counts.context_window.summed}}
    return CipherVectors(vocabulary.words, table, vocabulary.counts, vocabulary.passages, kept, manifest)

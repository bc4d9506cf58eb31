"""Plain reference implementations of counting and of the cipher embedding, word by word and pair by pair."""

from collections import Counter, defaultdict
from typing import NamedTuple

import numpy as np

OOV = "<oov>"


class Word(NamedTuple):
    word: str
    count: int
    passages: int


def rank_words(counts):
    """Return the words by count, descending, then by their bytes."""
    return sorted(counts, key=lambda word: (-counts[word], word.encode()))


def count_words(documents, size=2_000):
    """Return the count of each word, the number of passages of `size` tokens with it, and the number of passages."""
    passages = [document[start : start + size] for document in documents for start in range(0, len(document), size)]
    counts, holding = Counter(), Counter()
    for tokens in passages:
        counts.update(tokens)
        holding.update(set(tokens))
    return counts, holding, len(passages)


def count_pairs(documents, window, summed=False):
    """Return {(left, offset): {right: n}} for offsets 1 … window, or with their sum as offset 0."""
    pairs = defaultdict(Counter)
    for document in documents:
        for position, left in enumerate(document):
            for offset in range(1, window + 1):
                if position + offset < len(document):
                    pairs[left, 0 if summed else offset][document[position + offset]] += 1
    return pairs


def choose_words(documents, min_count=1, max_vocab_size=None, word_list=None):
    """Return the vocabulary as a list of `Word` by rank, and the number of passages."""
    counts, holding, total = count_words(documents)
    if word_list is None:
        chosen = [word for word in rank_words(counts) if counts[word] >= min_count and word != OOV][:max_vocab_size]
    else:
        chosen = set(word_list) - {OOV}
    outside = [word for word in counts if word not in chosen]
    chosen_counts = {word: counts[word] for word in chosen}
    chosen_counts[OOV] = sum(counts[word] for word in outside)
    chosen_holding = {word: holding[word] for word in chosen}
    chosen_holding[OOV] = min(total, sum(holding[word] for word in outside))
    return [Word(word, chosen_counts[word], chosen_holding[word]) for word in rank_words(chosen_counts)], total


def codes(bits, n):
    """Return the codes of n words as sets of active bits, by the closed form of Figure 2 of the paper."""
    level = [{bit} for bit in range(bits)]
    found = list(level)
    while len(found) < n:
        level = [member | {i} for i in reversed(range(bits)) for member in reversed(level) if max(member) < i]
        found += level
    return found[:n]


def noisy_ciphers(words, total_passages, bits, noise, noise_over):
    """Return v = β p + (1 - β) σ of every word, dense."""
    ciphers = np.zeros((len(words), bits))
    for rank, code in enumerate(codes(bits, len(words))):
        ciphers[rank, list(code)] = 1 / len(code)
    if noise == "none":
        return ciphers
    f = np.array([word.count for word in words], float)
    d = np.array([word.passages for word in words], float)
    if noise_over == "words":
        sigma = (1 - f / f.sum()) / (len(words) - 1) @ ciphers
    else:
        sigma = (1 - (f[:, None] * ciphers).sum(axis=0) / f.sum()) / (bits - 1)
    beta = {
        "document_share": lambda: d / total_passages,
        "frequency": lambda: f / (f + 1),
        "document_ratio": lambda: np.divide(d, f, out=np.zeros_like(d), where=f > 0),
    }[noise]()
    return beta[:, None] * ciphers + (1 - beta)[:, None] * sigma


def context_matrices(documents, words, window):
    """Return {offset: C_o, (N, N)} for -window … -1, 1 … window. Unknown words count as <oov>."""
    ranks = {word.word: rank for rank, word in enumerate(words)}
    matrices = {offset: np.zeros((len(words), len(words))) for offset in range(-window, window + 1) if offset}
    for document in documents:
        tokens = [ranks.get(word, ranks[OOV]) for word in document]
        for position, center in enumerate(tokens):
            for offset, matrix in matrices.items():
                if 0 <= position + offset < len(tokens):
                    matrix[center, tokens[position + offset]] += 1
    return matrices


def table(documents, words, total_passages, bits, window, mode, noise, log, noise_over="bits", summed=False):
    """Return the raw table from dense matrices."""
    ciphers = noisy_ciphers(words, total_passages, bits, noise, noise_over)
    if mode == "cipher":
        return ciphers
    matrices = context_matrices(documents, words, window)
    if summed:
        # Summed counts have one matrix of all forward offsets; its transpose is that of all backward offsets.
        forward = sum(matrices[offset] for offset in range(1, window + 1))
        matrices = {-1: forward.T, 1: forward}
    transform = np.log1p if log == "counts" else np.array
    blocks = [transform(matrices[offset]) @ ciphers for offset in sorted(matrices)]
    if mode == "sum":
        blocks = [sum(blocks)]
    empty = ~np.hstack(list(matrices.values())).any(axis=1)
    if log == "aggregate":
        blocks = [np.log(np.maximum(shares(block), 1e-9)) for block in blocks]
    result = np.hstack(blocks)
    result[empty] = 0
    return result


def shares(block):
    """Return the rows divided by their sums. Empty rows are uniform."""
    sums = block.sum(axis=1, keepdims=True)
    return np.where(sums > 0, block / np.where(sums > 0, sums, 1), 1 / block.shape[1])

"""The paired set: small computations of ours, and plain ones of NumPy, SciPy, spaCy and Python with the same result."""

import re
from collections import defaultdict
from collections.abc import Callable
from functools import cache
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import scipy.sparse as sp
import spacy
from multiply_counts import codes_of, table_of_scipy
from paired_text import DOCUMENT_TOKENS, WORDS, MadeText

from bitcipher.counts.context_window import ContextWindow
from bitcipher.counts.merge import merge_rows, renumber
from bitcipher.counts.merged_counts import MergedCounts
from bitcipher.counts.pairs import PairBlock, concatenate
from bitcipher.counts.shard_counts import count_shard
from bitcipher.counts.tokenized_shard import TokenizedShard
from bitcipher.embedding.cipher_embedding import CipherEmbedding
from bitcipher.embedding.spectral.in_memory_products import InMemoryProducts
from bitcipher.embedding.spectral.ppmi import compute_marginals, weight_rows
from bitcipher.embedding.spectral.transpose import forward_and_backward
from bitcipher.vocabulary import Vocabulary
from pipelines.duplicates.keys import compute_keys
from pipelines.duplicates.options import DuplicateOptions
from pipelines.tokenizers.registry import make_tokenizer

WINDOW = 4
SHARDS = 8
BITS = 25
COLUMNS = 64

# Numbers of tokens with which each side takes a tenth of a second or so.
TEXT_TOKENS = 150_000
KEY_TOKENS = 600_000
PAIR_TOKENS = 800_000

tokenizer = cache(lambda: make_tokenizer("spacy", lowercase=True))
blank = cache(lambda: spacy.blank("en").tokenizer)


class Case(NamedTuple):
    """One round of a comparison.

    Attributes:
        ours, theirs: the computations whose CPU time is compared.
        are_equal: whether two results are the same.
    """

    ours: Callable[[], Any]
    theirs: Callable[[], Any]
    are_equal: Callable[[Any, Any], bool]


def tokens(seed: int) -> Case:
    """Tokens of new words, as spaCy's blank tokenizer gives them."""
    texts = MadeText.make(TEXT_TOKENS, seed).documents()
    array = pa.array(texts, pa.large_string())

    def are_equal(ours, theirs):
        words = np.array(ours.words.to_pylist(), object)
        ours = [words[part].tolist() for part in np.split(ours.ids, ours.ends[:-1])]
        return ours == [[token.lower_ for token in document] for document in theirs]

    return Case(lambda: tokenizer().tokenize(array), lambda: list(blank().pipe(texts)), are_equal)


def keys(seed: int) -> Case:
    """Documents with the same words, of which every fourth is a copy with another case and punctuation."""
    texts = MadeText.make(KEY_TOKENS, seed).documents()
    texts[::4] = [text.upper().replace(",", " ; ") for text in texts[1::4]]
    array = pa.array(texts, pa.large_string())
    options = DuplicateOptions(near=None)

    def group():
        groups = defaultdict(list)
        for number, text in enumerate(texts):
            groups[tuple(re.findall("[a-z]+", text.lower()))].append(number)
        return groups

    def are_equal(ours, theirs):
        groups = defaultdict(list)
        for number, *key in zip(*(ours[name].to_pylist() for name in ("document", "key", "key_low")), strict=True):
            groups[tuple(key)].append(number)
        return sorted(groups.values()) == sorted(theirs.values())

    return Case(lambda: compute_keys(array, 0, options).documents, group, are_equal)


def pairs(seed: int) -> Case:
    """Pairs of each offset: packed into integers, sorted, and counted as lengths of runs."""
    text = MadeText.make(PAIR_TOKENS, seed)
    shard = text.shard()
    documents = np.arange(len(text.ids)) // DOCUMENT_TOKENS

    def sort():
        packed = []
        for offset in range(1, WINDOW + 1):
            inside = documents[:-offset] == documents[offset:]
            packed.append(_pack(text.ids[:-offset][inside], offset, text.ids[offset:][inside]))
        return np.unique(np.concatenate(packed), return_counts=True)

    def are_equal(ours, theirs):
        block = concatenate(_by_id(shard, counts, blocks) for counts, blocks in [ours])
        lefts, offsets = (np.repeat(column, block.length) for column in (block.left, block.offset))
        packed = _pack(lefts, offsets, block.right)
        order = np.argsort(packed)
        return np.array_equal(packed[order], theirs[0]) and np.array_equal(block.count[order], theirs[1])

    return Case(lambda: _count(shard), sort, are_equal)


def merge(seed: int) -> Case:
    """The sum of the pairs of shards."""
    _, blocks = _counted_shards()
    order = np.arange(WORDS)
    matrices = [sp.vstack(_matrices(block, WORDS), format="csr") for block in blocks]

    def add():
        sums = list(matrices)
        while len(sums) > 1:
            sums = [a + b for a, b in zip(sums[::2], sums[1::2], strict=True)]
        return sums[0]

    def are_equal(ours, theirs):
        return (sp.vstack(_matrices(ours[0], WORDS), format="csr") != theirs).nnz == 0

    return Case(lambda: merge_rows(blocks, order, -1), add, are_equal)


def cat(seed: int) -> Case:
    """The Cat table: log counts of each offset, multiplied by the code."""
    vocabulary, block = _merged()
    counts = MergedCounts.from_rows(vocabulary, ContextWindow(WINDOW), [block])
    embedding = CipherEmbedding(BITS, WINDOW, "cat", noise="frequency", log="counts")
    matrices, codes = _matrices(block, len(vocabulary)), codes_of(vocabulary, BITS)
    return Case(lambda: embedding.table(counts), lambda: table_of_scipy([matrices], codes), np.allclose)


def gram(seed: int) -> Case:
    """Σ scaleⱼ · Mⱼ · Mⱼᵀ · table of mode spectral."""
    rows, marginals, matrices = _weighted()
    words = matrices[0][0].shape[0]
    products = InMemoryProducts([rows], np.arange(words, dtype=np.int32), marginals)
    scales = np.ones(products.blocks)
    table = np.random.default_rng(seed).standard_normal((words, COLUMNS), np.float32)

    def multiply():
        return sum(matrix @ (transposed @ table) for matrix, transposed in matrices)

    def are_equal(ours, theirs):
        return np.allclose(ours, theirs, rtol=1e-3, atol=1e-3 * np.abs(theirs).max())

    return Case(lambda: products.gram_product(table, scales), multiply, are_equal)


CASES = {
    "tokens, against spaCy": tokens,
    "keys of documents, against Python": keys,
    "pairs, against NumPy's sort": pairs,
    "merge, against SciPy's addition": merge,
    "Cat table, against SciPy's products": cat,
    "spectral product, against SciPy's products": gram,
}


def _pack(lefts, offsets, rights):
    return (lefts.astype(np.int64) * (WINDOW + 1) + offsets) * WORDS + rights


def _count(shard: TokenizedShard):
    counts = count_shard(shard, ContextWindow(WINDOW))
    return counts, list(counts.pairs)


def _by_id(shard: TokenizedShard, counts, blocks) -> PairBlock:
    """Return the pairs of a shard with the ids of words instead of their numbers."""
    ids = np.empty(len(counts.words), np.int32)
    ids[counts.numbers] = np.asarray(pc.index_in(counts.words, shard.words))
    return renumber(concatenate(blocks), ids)


def _matrices(block: PairBlock, words: int) -> list[sp.csr_array]:
    """Return the counts of each offset as a matrix."""
    lefts, offsets = (np.repeat(column, block.length) for column in (block.left, block.offset))
    selected = (np.flatnonzero(offsets == offset) for offset in range(1, WINDOW + 1))
    return [sp.csr_array((block.count[s], (lefts[s], block.right[s])), shape=(words, words)) for s in selected]


@cache
def _counted_shards() -> tuple[Vocabulary, list[PairBlock]]:
    """Return the vocabulary of the text of seed 0, and the pairs of each of its shards by word id."""
    text = MadeText.make(PAIR_TOKENS, 0)
    whole = text.shard()
    counts, _ = _count(whole)
    vocabulary = Vocabulary.from_counts(counts.words, counts.counts, counts.passages, counts.total_passages)
    bounds = np.linspace(0, len(text.ends), SHARDS + 1).astype(int) * DOCUMENT_TOKENS
    blocks = []
    for start, stop in pairwise(bounds):
        ends = np.arange(DOCUMENT_TOKENS, stop - start + 1, DOCUMENT_TOKENS)
        shard = TokenizedShard(whole.words, whole.ids[start:stop], ends)
        blocks.append(_by_id(shard, *_count(shard)))
    return vocabulary, blocks


@cache
def _merged() -> tuple[Vocabulary, PairBlock]:
    """Return the vocabulary, and the pairs of all shards by rank."""
    vocabulary, blocks = _counted_shards()
    ranks = vocabulary.ranks(MadeText.make(PAIR_TOKENS, 0).shard().words)
    return vocabulary, merge_rows([renumber(b, ranks) for b in blocks], vocabulary.row_order(), vocabulary.oov_rank)[0]


@cache
def _weighted():
    """Return all weighted rows, their marginals, and each block of the matrix with its transpose."""
    vocabulary, block = _merged()
    words = len(vocabulary)
    both = forward_and_backward(MergedCounts.from_rows(vocabulary, ContextWindow(WINDOW), [block]), WINDOW)
    marginals = compute_marginals([both], WINDOW, False, words)
    by_word = np.lexsort((both.offset, both.left))
    rows = weight_rows(both, marginals, np.arange(words, dtype=np.int32), by_word)
    lefts = [np.repeat(rows.words, np.diff(starts)) for starts in rows.starts]
    matrices = [
        sp.csr_array((rows.weights[s[0] : s[-1]], (left, rows.contexts[s[0] : s[-1]])), shape=(words, words))
        for s, left in zip(rows.starts, lefts, strict=True)
    ]
    return rows, marginals, [(matrix, matrix.T.tocsr()) for matrix in matrices]

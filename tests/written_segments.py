"""Segments of a few documents, written by the counting code and read back as plain counters."""

from collections import Counter
from itertools import islice
from typing import NamedTuple

import numpy as np

from bitcipher.counts.context_window import ContextWindow
from bitcipher.counts.digest import digest_pairs, digest_words, word_hashes
from bitcipher.counts.pairs import iter_pairs
from bitcipher.counts.segment import read_words, write_part
from bitcipher.counts.shard_counts import count_shard
from bitcipher.counts.tokenized_shard import TokenizedShard
from pipelines.store.segments import Segment


class Counts(NamedTuple):
    """Counts by word instead of by rank."""

    words: Counter
    passages: Counter
    pairs: Counter  # keys: (left word, offset, right word)


def reference(documents: list[list[str]], context_window: ContextWindow) -> Counts:
    """Return the counts of documents that are shorter than one passage (2,000 tokens)."""
    words, holding, pairs = Counter(), Counter(), Counter()
    for tokens in documents:
        words.update(tokens)
        holding.update(set(tokens))
        for position, left in enumerate(tokens):
            for offset, right in enumerate(tokens[position + 1 : position + 1 + context_window.size], start=1):
                pairs[left, 0 if context_window.summed else offset, right] += 1
    return Counts(words, holding, pairs)


def write_segment(build: str, name: str, documents: list[list[str]], context_window: ContextWindow) -> Segment:
    """Count documents into a segment with one part."""
    counts = count_shard(TokenizedShard.from_documents(documents), context_window, block_entries=20)
    part = f"shards/{name}"
    columns = (counts.words, counts.numbers, counts.counts, counts.passages)
    written = write_part(f"{build}/{part}", *columns, counts.pairs)
    tokens = sum(map(len, documents))
    sizes = {"documents": len(documents), "text_bytes": 5 * tokens, "tokens": tokens, "types": len(counts.words)}
    digest = digest_of(build, (part,), counts.total_passages)
    return Segment(
        name=name,
        parts=(part,),
        part_hashes=(written.sha256,),
        shards=(name,),
        total_passages=counts.total_passages,
        entries=written.entries,
        digest=digest,
        **sizes,
    )


def digest_of(build: str, parts: tuple[str, ...], total_passages: int) -> str:
    """Return the digest of a segment, computed from its files."""
    uris = [f"{build}/{part}" for part in parts]
    words = read_words(uris)
    hashes = word_hashes(words["word"].combine_chunks())
    digest = digest_words(hashes, words["count"].to_numpy(), words["passages"].to_numpy(), total_passages)
    by_number = np.zeros_like(hashes)
    by_number[words["number"].to_numpy()] = hashes
    return sum((digest_pairs(block, by_number) for uri in uris for block in iter_pairs(uri, len(words))), digest).hex()


def read_counts(build: str, segment: Segment) -> Counts:
    """Read the counts of a segment; assert that words and pairs are sorted and that the recorded sizes are correct."""
    uris = [f"{build}/{part}" for part in segment.parts]
    tables = [read_words([uri]) for uri in uris]
    table = read_words(uris)
    names = table["word"].to_pylist()
    assert names == sorted(names, key=str.encode)
    word_of = dict(zip(table["number"].to_pylist(), names, strict=True))
    assert sorted(word_of) == list(range(len(names)))
    rows, entries, pairs, order = Counter(), Counter(), Counter(), []
    for uri, of_part in zip(uris, tables, strict=True):
        words_of_part = set(of_part["word"].to_pylist())
        for block in iter_pairs(uri, len(table)):
            cells = iter(zip(block.right.tolist(), block.count.tolist(), strict=True))
            for left, offset, length in zip(*(column.tolist() for column in block[:3]), strict=True):
                assert word_of[left] in words_of_part
                rows[word_of[left]] += 1
                entries[word_of[left]] += length
                for right, n in islice(cells, length):
                    order.append((word_of[left].encode(), offset, right))
                    assert n > 0
                    pairs[word_of[left], offset, word_of[right]] += n
    assert order == sorted(set(order))
    for row in table.to_pylist():
        assert (row["rows"], row["entries"]) == (rows[row["word"]], entries[row["word"]])
    assert (segment.types, segment.entries) == (len(names), len(pairs))
    counts, passages = (dict(zip(names, table[name].to_pylist(), strict=True)) for name in ("count", "passages"))
    return Counts(Counter(counts), Counter(passages), pairs)

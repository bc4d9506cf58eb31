"""The counts of batches add up to the counts of the documents, for any batch boundaries."""

from collections import Counter

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bitcipher.counts import shard_counts
from bitcipher.counts.context_window import ContextWindow
from bitcipher.counts.shard_counts import count_shard
from pipelines.count import count_stage
from pipelines.ingest.chunk_batches import batch_chunks
from pipelines.ingest.document_chunks import DocumentChunk, split_document
from pipelines.tokenizers.registry import make_tokenizer

PASSAGE_TOKENS = 7  # small, so that a short text has many passages

document = st.lists(st.sampled_from("a b c d e f".split()), max_size=60).map(" ".join)
documents = st.lists(document, min_size=1, max_size=6)


@pytest.fixture(autouse=True, scope="module")
def short_passages():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(shard_counts, "PASSAGE_TOKENS", PASSAGE_TOKENS)
        patch.setattr(count_stage, "PASSAGE_TOKENS", PASSAGE_TOKENS)
        yield


def counts_of(tokens, context_window, carried=0):
    """Return word counts, document frequencies and pair counts by name, and the number of passages."""
    counted = count_shard(tokens, context_window, carried)
    word_of = dict(zip(counted.numbers.tolist(), counted.words.to_pylist(), strict=True))
    pairs = Counter()
    for block in counted.pairs:
        entry = 0
        for left, offset, length in zip(*block[:3], strict=True):
            for _ in range(length):
                pairs[word_of[left], int(offset), word_of[block.right[entry]]] += int(block.count[entry])
                entry += 1
    names = counted.words.to_pylist()
    return (
        Counter(dict(zip(names, counted.counts.tolist(), strict=True))),
        Counter(dict(zip(names, counted.passages.tolist(), strict=True))),
        pairs,
        counted.total_passages,
    )


@settings(max_examples=200)
@given(documents, st.integers(1, 60), st.integers(4, 40), st.integers(1, 9), st.booleans())
def test_batches_add_up(texts, batch_bytes, chunk_characters, window, summed):
    context_window = ContextWindow(window, summed)
    tokenizer = make_tokenizer("whitespace", lowercase=True)
    whole = counts_of(tokenizer.tokenize(pa.array(texts, pa.large_string())), context_window)
    chunks = [chunk for text in texts for chunk in split_document([text], chunk_characters)]
    batches = list(count_stage.iter_batches(batch_chunks(chunks), tokenizer, window, batch_bytes))
    counted = [counts_of(batch.tokens, context_window, batch.carried) for batch in batches]
    for kind in range(3):
        assert sum((batch[kind] for batch in counted), Counter()) == whole[kind]
    assert sum(batch[3] for batch in counted) == whole[3]
    assert sum(batch.documents for batch in batches) == len(texts)
    assert sum(batch.text_bytes for batch in batches) == sum(len(text.encode()) for text in texts)
    assert sum(len(batch.tokens.ids) - batch.carried for batch in batches) == sum(len(text.split()) for text in texts)


def test_batches_have_the_requested_size():
    chunks = [DocumentChunk("abcd", False)] * 10
    batches = list(count_stage.iter_batches(batch_chunks(chunks), make_tokenizer("whitespace", lowercase=True), 2, 12))
    assert [batch.text_bytes for batch in batches] == [12, 12, 12, 4]


def test_batches_end_when_the_memory_of_the_tokenizer_is_full():
    # More distinct words than the smallest table of the tokenizer has room for.
    texts = [" ".join(f"w{number}" for number in range(start, start + 7_000)) for start in range(0, 140_000, 5_000)]
    tokenizer = make_tokenizer("whitespace", lowercase=True, max_chunks=20_000)
    whole = counts_of(make_tokenizer("whitespace", True).tokenize(pa.array(texts, pa.large_string())), ContextWindow(2))
    chunks = [chunk for text in texts for chunk in split_document([text], 9_000)]
    batches = list(count_stage.iter_batches(batch_chunks(chunks), tokenizer, 2, batch_bytes=10**6))
    assert len(batches) > 3
    assert max(len(batch.tokens.words) for batch in batches) < 70_000
    counted = [counts_of(batch.tokens, ContextWindow(2), batch.carried) for batch in batches]
    for kind in range(3):
        assert sum((batch[kind] for batch in counted), Counter()) == whole[kind]
    assert sum(batch.text_bytes for batch in batches) == sum(map(len, texts))
    assert sum(batch.documents for batch in batches) == len(texts)

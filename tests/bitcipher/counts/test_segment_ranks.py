import uuid

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from written_segments import write_segment

from bitcipher import BitcipherError, Vocabulary
from bitcipher.counts.context_window import ContextWindow
from bitcipher.counts.segment import iter_words, part_files, read_words
from bitcipher.counts.segment_ranks import RankFinder
from bitcipher.files import parquet_files, storage
from pipelines.merge.merge_segments import merge_segments
from pipelines.runtime.in_process import InProcessRuntime
from pipelines.runtime.memory_budget import RangeLimits
from pipelines.store.segments import Merge

WORDS = ["the", "of", "a", "Zoo", "zoo", "é", "ﬀ", "𝒳", "😀", "<oov>", *(f"w{i}" for i in range(80))]


@pytest.fixture
def build():
    uri = f"memory://{uuid.uuid4().hex}"
    yield uri
    storage.remove(uri)


def parts_of(build, words, range_size):
    """Return the parts of a segment with some words, each a range of them."""
    shard = write_segment(build, "shard", [[word] for word in words], ContextWindow(1))
    limits = RangeLimits(range_size, 1 << 30)
    merges = {"whole": Merge((shard,))}
    (whole,) = merge_segments(merges, build, "segments", f"{build}/work", limits, InProcessRuntime())
    return [f"{build}/{part}" for part in whole.parts]


@given(st.sets(st.sampled_from(WORDS), min_size=1), st.sets(st.sampled_from(WORDS)), st.data())
def test_ranks_are_those_of_the_vocabulary(in_segment, chosen, data):
    build = f"memory://{uuid.uuid4().hex}"
    parts = parts_of(build, sorted(in_segment), data.draw(st.integers(1, 100)))
    chosen = sorted(chosen | {"one"})
    vocabulary = Vocabulary.from_counts(chosen, np.arange(len(chosen), 0, -1), np.ones(len(chosen)), 9)
    ranks = RankFinder(vocabulary).find(parts, len(in_segment))
    table = read_words(parts)
    storage.remove(build)
    numbers = data.draw(st.permutations(table["number"].to_pylist()))
    words = dict(zip(table["number"].to_pylist(), table["word"].to_pylist(), strict=True))
    rank_of = {word: rank for rank, word in enumerate(vocabulary.words.to_pylist())}
    expected = [rank_of.get(words[number], vocabulary.oov_rank) for number in numbers]
    assert ranks[np.array(numbers, np.int32)].tolist() == expected
    assert len(ranks) == len(in_segment)


def test_memory_grows_with_the_words_of_the_vocabulary(build):
    words = [f"{i:05d}" for i in range(10_000)]
    vocabulary = Vocabulary.from_counts(words[::100], np.full(100, 5), np.ones(100), 9)
    ranks = RankFinder(vocabulary).find(parts_of(build, words, 1 << 30), len(words))
    assert len(ranks.ranks) == 100
    assert sum(each.nbytes for each in (ranks.bits, ranks.before, ranks.ranks)) < len(words)


@pytest.mark.parametrize("numbers", [[0, 1, 1], [0, 1, 3], [0, 1, -1]])
def test_missing_number_raises(build, numbers):
    (part,) = parts_of(build, ["a", "b", "c"], 1 << 30)
    (words,) = iter_words(part)
    index = words.column_names.index("number")
    damaged = words.set_column(index, words.schema.field(index), pa.array(numbers, pa.int32()))
    parquet_files.write_table(part_files(part)[0], damaged)
    vocabulary = Vocabulary.from_counts(["a"], np.ones(1), np.ones(1), 1)
    with pytest.raises(BitcipherError, match="some of their numbers are missing"):
        RankFinder(vocabulary).find([part], len(words))

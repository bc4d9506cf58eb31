"""Memory of tables of modes cat, sum and cipher."""

import pytest

from bitcipher.counts.context_window import ContextWindow
from bitcipher.counts.merged_counts import MergedCounts
from bitcipher.vocabulary import Vocabulary
from pipelines.embed.table_memory import sums_bytes
from pipelines.options import EmbeddingOptions
from pipelines.runtime.memory_budget import MemoryBudget


class SizedVocabulary(Vocabulary):
    """Vocabulary that has a size only."""

    def __init__(self, size):
        self.size = size

    def __len__(self):
        return self.size


@pytest.mark.parametrize(("words", "passes"), [(1_000, 1), (1_000_000, 2), (2_500_000, 4)])
def test_sums_of_each_pass_fit_in_their_memory(words, passes):
    options = EmbeddingOptions(mode="cat", bits=25, window=4)
    sums = sums_bytes(words, words, options, MemoryBudget(8000))
    counts = MergedCounts(SizedVocabulary(words), ContextWindow(4), None, None, None)
    taken = options.estimator().plan_passes(counts, sums)
    assert len(taken) == passes
    assert sums >= max(len(columns) for _, _, columns in taken) * words * 26 * 8


def test_table_that_does_not_fit_is_made_in_ranges():
    assert (
        sums_bytes(30_000_000, 30_000_000, EmbeddingOptions(mode="cat", bits=25, window=4), MemoryBudget(8000)) is None
    )

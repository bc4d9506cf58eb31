"""Estimated costs, and the limits that they reach, each with a remedy."""

import pytest

from pipelines.estimate.build_cost import Cluster, estimate_cost
from pipelines.estimate.calibrate import Calibration, Rates
from pipelines.estimate.corpus_laws import CorpusLaws
from pipelines.estimate.growth_law import WORDS_BENDING, fit_growth_law
from pipelines.estimate.limits import limits_reached
from pipelines.options import BuildOptions

RATES = Rates(
    stored_byte=1e-9,
    shard=0.5,
    token=2e-7,
    chunk=1e-5,
    merge_entry=5e-8,
    merge_type=1e-6,
    sum_type=5e-7,
    embed_entry=3e-8,
    embed_word=1e-5,
    fitted_word=3e-5,
    product_entry=1e-8,
)
TOKENS = [1e5, 1e6, 1e7, 1e8]


def make_laws(words: float, thinning: float = 8) -> CorpusLaws:
    types, pairs, rows = (
        fit_growth_law(TOKENS, [a * n**b for n in TOKENS], WORDS_BENDING)
        for a, b in ((words, 0.6), (30, 0.8), (9, 0.6))
    )
    return CorpusLaws(types, types, pairs, rows, pairs, thinning)


def cost_of(tokens: float, corpus_laws: CorpusLaws, options: BuildOptions, cluster: Cluster):
    calibration = Calibration(RATES, [], 0.5, 5.0, 2.3, 13.0, 40.0, 10**4)
    return estimate_cost(tokens, tokens * 2, 0, calibration, corpus_laws, options, cluster)


def limits(tokens, cluster, corpus_laws=None, **options):
    chosen = BuildOptions(**options)
    return limits_reached(cost_of(tokens, corpus_laws or make_laws(10), chosen, cluster), chosen, cluster)


def test_small_corpus_reaches_no_limit():
    assert limits(1e8, Cluster(1, 4, 16e9)) == {}


def test_trillion_tokens_reach_limits_of_memory_and_bits():
    found = limits(1e12, Cluster(10, 16, 28e9), mode="cat")
    assert set(found) == {"embed", "bits"}
    assert "33,554,431 words: use --bits" in found["bits"]
    larger = limits(1e12, Cluster(10, 16, 2e12), mode="cat", bits=32)
    assert "embed" not in larger
    assert "bits" not in larger


def test_mode_spectral_has_no_limit_of_bits():
    found = limits(1e12, Cluster(10, 16, 28e9))
    assert set(found) == {"embed"}
    assert "--max-vocab-size" in found["embed"]


def test_small_nodes_reach_the_limits_of_the_driver_and_of_workers():
    found = limits(1e12, Cluster(10, 16, 1e9))
    assert "--max-vocab-size" in found["driver"]
    assert "larger nodes" in found["merge"]


def test_memory_of_merges_does_not_grow_with_the_words():
    few, many = (cost_of(tokens, make_laws(100), BuildOptions(), Cluster(10, 16, 64e9)) for tokens in (1e9, 1e10))
    assert many.types > 2 * few.types
    assert many.memory.merge_worker == few.memory.merge_worker


def test_workers_reduce_wall_time_of_spectral_vectors_only():
    one, many = (cost_of(1e10, make_laws(10), BuildOptions(), Cluster(nodes, 8, 64e9)) for nodes in (1, 10))
    assert many.cpu_seconds["embed"] == one.cpu_seconds["embed"]
    assert many.wall_seconds["embed"] < one.wall_seconds["embed"] < one.cpu_seconds["embed"]


def test_too_many_words_for_int32_reach_a_limit():
    assert "2,147,483,647" in limits(1e12, Cluster(10, 16, 32e12), make_laws(300, 1e6))["types"]


def test_more_workers_take_the_same_cpu_and_less_wall_time():
    one, many = (cost_of(1e10, make_laws(10), BuildOptions(), Cluster(nodes, 8, 64e9)) for nodes in (1, 10))
    assert (one.workers, many.workers) == (8, 80)
    assert many.cpu_seconds["merge"] == one.cpu_seconds["merge"]
    assert sum(many.wall_seconds.values()) < sum(one.wall_seconds.values())


def test_pairs_are_merged_once_per_tier():
    cost = cost_of(1e11, make_laws(10), BuildOptions(), Cluster(1, 8, 64e9))
    assert cost.shards == pytest.approx(1e11 * 5 / (64 << 20), rel=0.01)
    assert 1 < cost.rounds < 3
    assert cost.shuffle_written < cost.shuffle_read
    assert cost.peak_bytes > cost.shard_bytes + cost.segment_bytes


def test_shards_larger_than_the_budget_cost_a_merge_of_batches():
    small, large = (
        cost_of(1e9, make_laws(10), BuildOptions(memory_mib=megabytes), Cluster(1, 1, 64e9))
        for megabytes in (600, 1500)
    )
    assert small.cpu_seconds["count"] > large.cpu_seconds["count"]

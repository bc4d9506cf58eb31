import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bitcipher.evaluation import neighbors
from bitcipher.vectors.cipher_vectors import CipherVectors
from pipelines.builds import version_drift
from pipelines.builds.version_drift import DriftError, DriftStage, check_drift, measure_drift
from pipelines.runtime.in_process import InProcessRuntime
from pipelines.runtime.runtime import StageSpec
from pipelines.store.manifest import Drift, RankMoves

DRIFT = Drift(
    words_in=0,
    words_out=0,
    added=(),
    removed=(),
    rank_moves=RankMoves(words=0, median=0.0, percentile_99=0.0),
    neighbors=1.0,
    sample=128,
    vector_moves=None,
)


def table(words, vectors):
    vectors = np.asarray(vectors, np.float32)
    return CipherVectors(words, vectors / np.linalg.norm(vectors, axis=1, keepdims=True))


def random_table(size, seed=0, vector_size=8):
    random = np.random.default_rng(seed)
    return table([f"w{i}" for i in range(size)], random.normal(size=(size, vector_size)))


def reordered(vectors, order):
    return CipherVectors([vectors.index_to_key[i] for i in order], vectors.vectors[order])


def test_equal_vectors_have_no_drift():
    one = random_table(300)
    assert measure_drift(one, random_table(300)) == DRIFT


def test_changed_ranks_do_not_change_neighbors():
    one = random_table(200)
    found = measure_drift(one, reordered(one, [1, 0, *range(2, 190), *reversed(range(190, 200))]))
    assert found.neighbors == 1.0
    assert found.rank_moves.words == 12
    assert found.rank_moves.median == 0.0
    reversed_moves = measure_drift(one, reordered(one, list(reversed(range(200))))).rank_moves
    assert reversed_moves.words == 200
    assert reversed_moves.median == 100.0  # 199, 197, …, 1, each twice
    assert reversed_moves.percentile_99 == pytest.approx(197, abs=1)


def test_added_and_removed_words_are_listed_by_frequency():
    before = random_table(40)
    now = reordered(before, [i for i in range(40) if i not in (3, 7)])
    now = CipherVectors([*now.index_to_key, "new", "newer"], np.vstack([now.vectors, before.vectors[[3, 7]]]))
    found = measure_drift(before, now)
    assert (found.words_in, found.added) == (2, ("new", "newer"))
    assert (found.words_out, found.removed) == (2, ("w3", "w7"))
    many = measure_drift(random_table(5), table([f"x{i}" for i in range(30)], np.eye(30)))
    assert (many.words_in, many.words_out, many.sample, many.neighbors) == (30, 5, 0, 1.0)
    assert many.added == tuple(f"x{i}" for i in range(10))
    assert many.rank_moves == RankMoves(words=0, median=0.0, percentile_99=0.0)


def test_changed_neighbors_are_drift():
    def pairs(partners):
        """Return a table of words w0 … w9 whose nearest neighbors are their partners: each pair has a direction."""
        directions = np.empty(10, np.int64)
        for number, (one, other) in enumerate(partners):
            directions[[one, other]] = number
        return table([f"w{i}" for i in range(10)], np.eye(5)[directions] + 0.001 * np.eye(10, 5))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(version_drift, "NEIGHBORS", 1)
        before = pairs([(0, 1), (2, 3), (4, 5), (6, 7), (8, 9)])
        assert measure_drift(before, pairs([(0, 1), (2, 3), (4, 5), (6, 7), (8, 9)])).neighbors == 1.0
        assert measure_drift(before, pairs([(0, 1), (2, 3), (4, 5), (6, 8), (7, 9)])).neighbors == 0.6
        assert measure_drift(before, pairs([(1, 2), (3, 4), (5, 6), (7, 8), (9, 0)])).neighbors == 0.0


@pytest.mark.parametrize("size", [1, 2, 5, 11])
def test_neighbors_of_fewer_than_ten_words(size):
    found = measure_drift(random_table(size), random_table(size, seed=1))
    # With at most 11 words, all words are neighbors of each other in both tables.
    assert (found.neighbors, found.sample) == (1.0, size)


def kept_share_of_all(before, now, rows):
    """Return the mean share of the ten nearest words that did not change."""
    kept = []
    for row in rows:
        nearest = []
        for vectors in (before, now):
            index = vectors.index_to_key.index(before.index_to_key[row])
            cosines = vectors.vectors @ vectors.vectors[index]
            cosines[index] = -np.inf
            nearest.append({vectors.index_to_key[i] for i in np.argsort(-cosines)[: min(10, len(cosines) - 1)]})
        kept.append(len(nearest[0] & nearest[1]) / len(nearest[0]))
    return np.mean(kept)


@given(st.integers(2, 150), st.integers(2, 150), st.integers(1, 60), st.integers(0, 99))
@settings(max_examples=40)
def test_block_size_does_not_change_the_drift(size, new_size, block_rows, seed):
    before = random_table(size, seed)
    now = random_table(new_size, seed)
    now = table(now.index_to_key, now.vectors + np.random.default_rng(seed).normal(0, 0.2, now.vectors.shape))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(neighbors, "BLOCK_ROWS", block_rows)
        patch.setattr(version_drift, "SAMPLE_WORDS", 200)
        found = measure_drift(before, now)
    common = range(min(size, new_size))
    assert found.sample == len(common)
    assert found.neighbors == pytest.approx(kept_share_of_all(before, now, common), abs=1e-4)


def test_drift_stage_compares_saved_vectors(tmp_path):
    one, other = random_table(50), random_table(60, seed=1)
    one.save(tmp_path / "one")
    other.save(tmp_path / "other")
    spec = StageSpec("drift", DriftStage, {"before": str(tmp_path / "one"), "same_axes": True})
    (result,) = InProcessRuntime().stream(spec, [str(tmp_path / "other")])
    assert result.value == measure_drift(one, other, same_axes=True)
    assert result.value.words_in == 10
    cosines = (one.vectors * other.vectors[:50]).sum(axis=1)
    moves = result.value.vector_moves
    assert moves.median == pytest.approx(np.median(cosines), abs=1e-3)
    assert moves.percentile_1 == pytest.approx(cosines.min(), abs=1e-3)
    assert list(moves.furthest) == [f"w{i}" for i in np.argsort(cosines)[:10]]
    assert list(moves.furthest.values()) == pytest.approx(np.sort(cosines)[:10], abs=1e-3)
    assert measure_drift(one, other).vector_moves is None


def test_only_frequent_words_are_named_among_those_that_moved(monkeypatch):
    monkeypatch.setattr(version_drift, "SAMPLE_RANKS", 20)
    moves = measure_drift(random_table(50), random_table(50, seed=1), same_axes=True).vector_moves
    assert set(moves.furthest) <= {f"w{i}" for i in range(20)}


def test_drift_above_the_maximum_raises():
    found = DRIFT.model_copy(update={"neighbors": 0.75, "words_in": 1200, "words_out": 3})
    check_drift("build", found, None)
    check_drift("build", found, 0.25)
    with pytest.raises(DriftError, match=r"25\.0% of the neighbors .* 20\.0% \(1,200 words are new, 3 are gone\)"):
        check_drift("build", found, 0.2)

"""Comparison of two tables, checked against a direct computation."""

import base64

import numpy as np
import pytest

from bitcipher.evaluation.neighbors import nearest_rows
from bitcipher.vectors.cipher_vectors import CipherVectors
from pipelines.reports.explore import comparison
from pipelines.reports.explore.comparison import compare_tables
from pipelines.reports.maps.layout import choose_rows


def numbers(packed: dict[str, str]) -> np.ndarray:
    return np.frombuffer(base64.b64decode(packed["base64"]), np.dtype(packed["type"]).newbyteorder("<")).astype(int)


def table(words: list[str], seed: int) -> CipherVectors:
    """Return a table in which the vectors of a word differ only slightly between seeds."""
    rows = np.array([np.random.default_rng(sum(map(ord, word)) * 31 + len(word)).normal(size=6) for word in words])
    rows += np.random.default_rng(seed).normal(0, 0.6, rows.shape)
    return CipherVectors(words, rows / np.linalg.norm(rows, axis=1, keepdims=True))


def compare(before: CipherVectors, now: CipherVectors, max_words: int) -> tuple[dict, list[str], list[str]]:
    rows = choose_rows(now, max_words)
    neighbors, _ = nearest_rows(np.asarray(now.vectors)[rows], np.arange(len(rows)), 15)
    words = [now.index_to_key[row] for row in rows]
    found = compare_tables("old", before, now, rows, neighbors)
    return found, words, [*words, *found["words"]]


def word(number: int) -> str:
    return f"{chr(97 + number % 26)}{number}"


@pytest.fixture(scope="module")
def tables() -> tuple[CipherVectors, CipherVectors]:
    before = ["<oov>", *(word(number) for number in range(60))]
    now = [word(number) for number in (*range(7, 30), 3, *range(30, 70))]
    return table(before, 1), table([*now[:5], "<oov>", *now[5:]], 2)


@pytest.mark.parametrize("max_words", [1_000, 25])
def test_earlier_neighbors_and_their_overlap_with_current_neighbors(tables, max_words):
    before, now = tables
    found, words, names = compare(before, now, max_words)
    old_words = [each for each in before.index_to_key if each != "<oov>"][:max_words]
    among_old = CipherVectors(old_words, before[old_words])
    among_now = CipherVectors(words, now[words])
    compared = [words[number] for number in numbers(found["compared"])]
    assert compared == [each for each in words if each in old_words]
    shares = dict(zip(compared, numbers(found["kept"]) / 32767, strict=True))
    for position, each in enumerate(compared):
        expected = [other for other, _ in among_old.most_similar(each)]
        shown = numbers(found["neighbors"])[position * 10 : position * 10 + 10]
        assert [names[other] for other in shown] == expected
        stayed = {other for other, _ in among_now.most_similar(each)} & set(expected)
        assert shares[each] == pytest.approx(len(stayed) / 10, abs=1e-4)
    changed_neighbors = [words[number] for number in numbers(found["changed_neighbors"])]
    assert changed_neighbors == sorted(
        (each for each in compared if shares[each] < 1), key=lambda each: round(shares[each], 3)
    )


def test_changed_ranks_and_added_and_removed_words(tables):
    before, now = tables
    found, words, _ = compare(before, now, 1_000)
    ranks = {each: rank for rank, each in enumerate(before.index_to_key, 1)}
    assert numbers(found["ranks"]).tolist() == [ranks.get(each, 0) for each in words]
    assert (found["new_words"], found["new_size"]) == ([word(number) for number in range(60, 70)], 10)
    assert (found["removed_words"], found["removed_size"]) == ([word(number) for number in (0, 1, 2, 4, 5, 6)], 6)
    changed_ranks = [words[number] for number in numbers(found["changed_ranks"])]
    ratios = [abs(np.log((now.get_index(each) + 1) / ranks[each])) for each in changed_ranks]
    assert ratios == sorted(ratios, reverse=True)
    assert set(changed_ranks) == {each for each in words if ranks.get(each, 0) not in (0, now.get_index(each) + 1)}


def test_long_lists_are_cut(tables, monkeypatch):
    monkeypatch.setattr(comparison, "MAX_LISTED", 3)
    found, _, _ = compare(*tables, 1_000)
    assert [len(numbers(found[name])) for name in ("changed_neighbors", "changed_ranks")] == [3, 3]
    assert (len(found["new_words"]), found["new_size"], len(found["removed_words"]), found["removed_size"]) == (
        3,
        10,
        3,
        6,
    )


def test_tables_without_common_words(tables):
    found, words, _ = compare(table(["x", "y", "z"], 3), tables[1], 1_000)
    assert found["size"] == 0
    assert [len(numbers(found[name])) for name in ("compared", "neighbors", "changed_neighbors", "changed_ranks")] == [
        0
    ] * 4
    assert (found["removed_words"], found["new_size"]) == (["x", "y", "z"], len(words))


def test_equal_tables_have_no_changes(tables):
    found, _, _ = compare(tables[1], tables[1], 1_000)
    assert set(numbers(found["kept"])) == {32767}
    assert [len(numbers(found[name])) for name in ("changed_neighbors", "changed_ranks")] == [0, 0]
    assert found["new_words"] == found["removed_words"] == found["words"] == []

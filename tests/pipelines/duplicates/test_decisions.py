"""Clusters and decisions against connected components in plain Python."""

import numpy as np
import pyarrow as pa
import pytest
from duplicate_reference import clusters_of, shuffle_rows
from hypothesis import given
from hypothesis import strategies as st

from bitcipher.errors import BitcipherError
from pipelines.duplicates.copies import PAIRS
from pipelines.duplicates.decisions import decide_documents, join_pairs, select_file
from pipelines.duplicates.keys import document_id
from pipelines.duplicates.options import DuplicateOptions, NearOptions, ParagraphOptions

EDGES = st.lists(st.tuples(st.integers(0, 15), st.integers(0, 15)).filter(lambda edge: edge[0] != edge[1]), max_size=20)


def priority(document):
    """Return a priority that several documents share."""
    return document * 7 % 5


def pairs_of(edges):
    rows = [(a, priority(a), b, priority(b)) for a, b in edges]
    return pa.table([pa.array(column, pa.uint64()) for column in zip(*rows, strict=True)] or [[]] * 4, schema=PAIRS)


def expected_kept(edges, first_new):
    return {
        document: min(cluster, key=lambda each: (each >= first_new, priority(each), each))
        for cluster in clusters_of(edges)
        for document in cluster
    }


@given(EDGES, EDGES, st.integers(0, 16), st.integers(0, 9))
def test_decisions_are_those_of_the_reference(copies, near, first_new, seed):
    kept = expected_kept(copies + near, first_new)
    expected = [
        {
            "document": document,
            "kept": kept[document],
            "reason": "duplicate document" if document in {a for a, _ in copies} else "near duplicate",
        }
        for document in sorted(kept)
        if kept[document] != document and document >= first_new
    ]
    found = decide_documents(shuffle_rows(pairs_of(copies), seed), shuffle_rows(pairs_of(near), seed), first_new)
    assert found.to_pylist() == expected


@given(EDGES, EDGES, st.integers(0, 16))
def test_pairs_can_be_joined_a_few_at_a_time(first, second, first_new):
    expected = join_pairs(pairs_of(first + second), first_new)
    joined = pairs_of([])
    for part in (first, second, first):
        joined = join_pairs(pa.concat_tables([joined, pairs_of(part)]), first_new)
    assert joined.equals(expected)
    assert join_pairs(expected, first_new).equals(expected)
    for row in expected.to_pylist():
        assert row["priority"] == priority(row["document"])
        assert row["kept_priority"] == priority(row["kept"])


def test_clusters_of_published_documents_lose_only_new_documents():
    # Document 3 links the published documents 0, 1 and 2.
    near = pairs_of([(3, 0), (3, 1), (3, 2), (4, 3)])
    decisions = decide_documents(pairs_of([]), near, first_new=3)
    assert decisions["document"].to_pylist() == [3, 4]
    assert set(decisions["kept"].to_pylist()) == {0}


def test_large_clusters_are_chains_of_pairs():
    n = 100_000
    chain = np.arange(n, dtype=np.uint64)
    pairs = pa.table([chain[1:], chain[1:], chain[:-1], chain[:-1]], schema=PAIRS)
    joined = join_pairs(shuffle_rows(pairs, 3))
    assert joined["document"].to_pylist() == list(range(1, n))
    assert set(joined["kept"].to_pylist()) == {0}


def test_rows_of_a_file():
    copies = pairs_of([])
    ids = [document_id(file, row) for file, row in ((0, 5), (2, 0), (2, 2**32 - 1), (3, 1))]
    near = pa.table([ids, [9] * 4, [document_id(1)] * 4, [1] * 4], schema=PAIRS)
    decisions = decide_documents(copies, near)
    rows = [select_file(decisions, file)["row"].to_pylist() for file in range(5)]
    assert rows == [[5], [], [0, 2**32 - 1], [1], []]
    assert select_file(decisions, 2)["kept"].to_pylist() == [document_id(1)] * 2


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"near": {"threshold": 0.2}}, "near.threshold"),
        ({"near": {"shingle_words": 0}}, "near.shingle_words"),
        ({"near": {"bands": 3}}, "near.bands"),
        ({"paragraphs": {"min_words": 0}}, "paragraphs.min_words"),
        ({"host_lines": {"min_documents": 1}}, "host_lines.min_documents"),
        ({"documents": 1}, "documents"),
    ],
)
def test_invalid_options(values, message):
    with pytest.raises(BitcipherError, match=message):
        DuplicateOptions.parse(values)


def test_options_of_a_recipe():
    options = DuplicateOptions.parse({"documents": True, "near": {"threshold": 0.9}, "paragraphs": {}})
    assert options.near == NearOptions(threshold=0.9)
    assert options.paragraphs == ParagraphOptions(min_words=20)
    assert options.host_lines is None
    assert DuplicateOptions.parse({"near": None}).near is None
    assert DuplicateOptions.parse(options.to_dict()) == options

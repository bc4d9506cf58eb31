"""Exact copies of documents and paragraphs, and recurring lines, against dictionaries."""

import numpy as np
import pyarrow as pa
import pytest
from duplicate_reference import group_by, shuffle_rows, words_of
from hypothesis import given
from hypothesis import strategies as st

from bitcipher.errors import BitcipherError
from pipelines.duplicates.copies import find_copies, find_host_lines, find_paragraph_copies, without_documents
from pipelines.duplicates.keys import compute_keys, document_id
from pipelines.duplicates.options import DuplicateOptions, HostLineOptions, ParagraphOptions
from pipelines.runtime.grouping import partition_of

OPTIONS = DuplicateOptions(
    paragraphs=ParagraphOptions(min_words=2), host_lines=HostLineOptions(min_documents=2), near=None
)
LINES = st.sampled_from(["", "!", "a", "A.", "a b", "A, b", "b a", "a b c", "中文", "٣ b", "3 b"])
DOCUMENTS = st.lists(st.lists(LINES, max_size=4).map("\n".join), min_size=1, max_size=12)


def keys_of(documents, first=0):
    """Return the keys of documents whose host is that of their row modulo 2, or none for every fifth."""
    hosts = [None if row % 5 == 4 else f"{row % 2}.org" for row in range(len(documents))]
    return compute_keys(pa.array(documents, pa.string()), first, OPTIONS, pa.array(hosts, pa.string()))


def rank(priorities, first_new):
    return lambda document: (document >= first_new, priorities[document], document)


@given(DOCUMENTS, st.integers(0, 12), st.integers(0, 9))
def test_kept_copies_of_documents_are_those_of_the_reference(documents, first_new, seed):
    keys = keys_of(documents).documents
    normal = [tuple(words_of(text)) for text in documents]
    with_words = [document for document, words in enumerate(normal) if words]
    assert sorted(keys["document"].to_pylist()) == with_words
    priorities = dict(zip(keys["document"].to_pylist(), keys["priority"].to_pylist(), strict=True))
    expected = {}
    for group in group_by([normal[document] for document in with_words]).values():
        group = [with_words[i] for i in group]
        kept = min(group, key=rank(priorities, first_new))
        expected |= {document: kept for document in group if document != kept}
    copies = find_copies(shuffle_rows(keys, seed), first_new)
    assert dict(zip(copies["document"].to_pylist(), copies["kept"].to_pylist(), strict=True)) == expected
    assert copies["document"].to_pylist() == sorted(expected)
    assert copies["kept_priority"].to_pylist() == [priorities[expected[document]] for document in sorted(expected)]


@given(DOCUMENTS, st.integers(0, 12), st.integers(0, 9))
def test_kept_paragraphs_are_those_of_the_reference(documents, first_new, seed):
    keys = keys_of(documents).paragraphs
    paragraphs = {
        (document, position): tuple(words_of(line))
        for document, text in enumerate(documents)
        for position, line in enumerate(text.split("\n"))
        if len(words_of(line)) >= 2
    }
    rows = list(zip(keys["document"].to_pylist(), keys["position"].to_pylist(), strict=True))
    assert sorted(rows) == sorted(paragraphs)
    priorities = dict(zip(keys["document"].to_pylist(), keys["priority"].to_pylist(), strict=True))
    by_rank = sorted(paragraphs, key=lambda place: (*rank(priorities, first_new)(place[0]), place[1]))
    seen, expected = set(), []
    for place in by_rank:
        if paragraphs[place] in seen and place[0] >= first_new:
            expected.append(place)
        seen.add(paragraphs[place])
    found = find_paragraph_copies(shuffle_rows(keys, seed), first_new)
    assert list(zip(found["document"].to_pylist(), found["position"].to_pylist(), strict=True)) == sorted(expected)


@given(DOCUMENTS, st.integers(1, 4), st.integers(0, 12), st.integers(0, 9))
def test_host_lines_are_those_of_the_reference(documents, min_documents, first_new, seed):
    lines = [
        (document, position, (document % 2, *words_of(line)))
        for document, text in enumerate(documents)
        for position, line in enumerate(text.split("\n"))
        if words_of(line) and document % 5 != 4
    ]
    documents_of = {key: {document for document, _, other in lines if other == key} for _, _, key in lines}
    expected = sorted(
        (document, position)
        for document, position, key in lines
        if len(documents_of[key]) >= min_documents and document >= first_new
    )
    found = find_host_lines(shuffle_rows(keys_of(documents).host_lines, seed), min_documents, first_new)
    assert list(zip(found["document"].to_pylist(), found["position"].to_pylist(), strict=True)) == expected


@given(DOCUMENTS, st.integers(1, 7), st.integers(0, 12))
def test_partitions_together_give_the_result_of_the_whole(documents, partitions, first_new):
    keys = keys_of(documents)
    for table, find in ((keys.documents, find_copies), (keys.paragraphs, find_paragraph_copies)):
        number = partition_of(table["key"].to_numpy(), partitions)
        parts = [find(table.filter(pa.array(number == part)), first_new) for part in range(partitions)]
        joined = pa.concat_tables(parts)
        order = [(name, "ascending") for name in joined.schema.names[:2]]
        expected = find(table, first_new)
        assert joined.sort_by(order).to_pylist() == expected.sort_by(order).to_pylist()


def test_partitions_are_equal_ranges_of_keys_in_order():
    keys = np.sort(np.random.default_rng(1).integers(0, 2**64, 10_000, dtype=np.uint64))
    numbers = partition_of(np.concatenate([np.zeros(1, np.uint64), keys, np.full(1, 2**64 - 1, np.uint64)]), 7)
    assert (np.diff(numbers) >= 0).all()
    assert set(numbers.tolist()) == set(range(7))
    assert np.bincount(numbers).min() > 1_200


def test_kept_copy_does_not_depend_on_files():
    texts = ["Same words, one form.", "same WORDS one form", "SAME words - one form!"]
    kept = set()
    for order in ([0, 1, 2], [2, 0, 1], [1, 2, 0]):
        tables = [compute_keys(pa.array([texts[i]]), document_id(file), OPTIONS.copy_with(host_lines=None)).documents
                  for file, i in enumerate(order)]  # fmt: skip
        copies = find_copies(pa.concat_tables(tables))
        assert copies.num_rows == 2
        kept |= {texts[order[document >> 32]] for document in copies["kept"].to_pylist()}
    assert len(kept) == 1


def test_second_search_among_the_kept_finds_nothing():
    documents = ["a b\nc d", "c d\ne f", "a b\nc d", "A B c d", "e f"]
    keys = keys_of(documents)
    dropped = find_copies(keys.documents)["document"].to_numpy()
    assert len(dropped) == 2
    assert find_copies(without_documents(keys.documents, dropped)).num_rows == 0
    paragraphs = without_documents(keys.paragraphs, dropped)
    assert not set(paragraphs["document"].to_pylist()) & set(dropped.tolist())
    assert find_paragraph_copies(paragraphs).num_rows > 0
    assert without_documents(keys.paragraphs, np.zeros(0, np.uint64)) is keys.paragraphs


def test_no_paragraph_is_lost_if_the_keys_of_dropped_documents_are_left_out():
    documents = ["a b\nx y", "a b\nx y", "x y\nz z"]
    keys = keys_of(documents)
    dropped = find_copies(keys.documents)["document"].to_numpy()
    removed = find_paragraph_copies(without_documents(keys.paragraphs, dropped)).to_pylist()
    kept = {
        line
        for document, text in enumerate(documents)
        for position, line in enumerate(text.split("\n"))
        if document not in dropped and {"document": document, "position": position} not in removed
    }
    assert kept == {"a b", "x y", "z z"}


def test_missing_hosts_are_an_error():
    with pytest.raises(BitcipherError, match="host_lines"):
        compute_keys(pa.array(["a"]), 0, OPTIONS)


def test_tables_of_kinds_that_are_not_searched_are_empty():
    texts, hosts = pa.array(["a b c d e f"] * 2), pa.array(["a.org"] * 2)
    kinds = {
        "documents": DuplicateOptions(near=None),
        "paragraphs": DuplicateOptions(documents=False, paragraphs=ParagraphOptions(min_words=2), near=None),
        "host_lines": DuplicateOptions(documents=False, host_lines=HostLineOptions(), near=None),
        "near": DuplicateOptions(documents=False),
    }
    for kind, options in kinds.items():
        tables = compute_keys(texts, 0, options, hosts)._asdict()
        assert [name for name, table in tables.items() if table.num_rows] == [kind]


def test_no_documents_have_no_keys_and_no_copies():
    keys = compute_keys(pa.array([], pa.string()), 0, OPTIONS, pa.array([], pa.string()))
    assert not any(table.num_rows for table in keys)
    assert find_copies(keys.documents).num_rows == 0
    assert find_paragraph_copies(keys.paragraphs).num_rows == 0
    assert find_host_lines(keys.host_lines, 1).num_rows == 0

"""Row groups of words: a reader of a range of words reads no others."""

import re
import uuid

import pytest
from hypothesis import given
from hypothesis import strategies as st
from written_segments import write_segment

from bitcipher.counts.context_window import ContextWindow
from bitcipher.counts.row_ranges import find_row_ranges
from bitcipher.counts.segment import part_files, read_words
from bitcipher.counts.word_ranges import ALL_WORDS, WordRange
from bitcipher.errors import BitcipherError
from bitcipher.files import parquet_files, storage

words = st.text("ab\0é😀", max_size=3)
bytes_of_words = words.map(str.encode)


@pytest.fixture
def reads(monkeypatch):
    """Names of the columns of each read, and the words if they are read."""
    reads = []
    read = parquet_files.RowGroup.read

    def record(self, columns=None):
        table = read(self, columns)
        reads.append(set(table["word"].to_pylist()) if "word" in table.column_names else None)
        return table

    monkeypatch.setattr(parquet_files.RowGroup, "read", record)
    return reads


def part_of(in_part, group_words):
    build = f"memory://{uuid.uuid4().hex}"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("bitcipher.counts.segment.GROUP_WORDS", group_words)
        segment = write_segment(build, "s", [sorted(in_part), sorted(in_part, reverse=True)], ContextWindow(2))
    return f"{build}/{segment.parts[0]}"


@given(st.sets(words, min_size=1), st.integers(1, 5), bytes_of_words, st.none() | bytes_of_words)
def test_words_and_rows_of_a_range(in_part, group_words, start, stop):
    part, chosen = part_of(in_part, group_words), WordRange(start, stop)
    found = [word for table in chosen.iter_words(part) for word in table["word"].to_pylist()]
    inside = [
        start <= word.encode() and (stop is None or word.encode() < stop) for word in sorted(in_part, key=str.encode)
    ]
    assert found == [word for word, isin in zip(sorted(in_part, key=str.encode), inside, strict=True) if isin]
    table = read_words([part])
    (row_range,) = find_row_ranges(part, [chosen])
    rows, entries = (table[name].to_numpy() for name in ("rows", "entries"))
    if row_range is None:
        assert not rows[inside].sum()
    else:
        assert row_range.row_stop - row_range.row_start == rows[inside].sum()
        assert row_range.row_start == rows[: inside.index(True)].sum()
        assert row_range.entry_stop - row_range.entry_start == entries[inside].sum()
        assert row_range.entry_start == entries[: inside.index(True)].sum()
    storage.remove(part.rpartition("/shards/")[0])


def test_other_row_groups_are_not_read(reads):
    in_part = [f"{i:03d}" for i in range(100)]
    part = part_of(in_part, 10)
    chosen = WordRange(b"035", b"050")
    assert sum(len(table) for table in chosen.iter_words(part)) == 15
    assert reads == [set(in_part[30:40]), set(in_part[40:50])]
    reads.clear()
    find_row_ranges(part, [chosen])
    assert reads == [None] * 3 + [set(in_part[30:40]), set(in_part[40:50])]
    storage.remove(part.rpartition("/shards/")[0])


def test_words_without_bounds_are_read():
    in_part = ["a", "b" * 10_000, "c"]  # Arrow writes no bounds of words of more than 4 kB
    part = part_of(in_part, 1)
    found = [word for table in WordRange(b"b", b"c").iter_words(part) for word in table["word"].to_pylist()]
    assert found == in_part[1:2]
    storage.remove(part.rpartition("/shards/")[0])


def test_damaged_pages_are_named():
    part = part_of({f"word{number}" for number in range(100)}, 50)
    (file, *_) = part_files(part)
    content = bytearray(storage.read_bytes(file))
    content[4:24] = b"\xff" * 20  # the header of the first page, which is read on demand
    storage.write_bytes(file, bytes(content))
    with pytest.raises(BitcipherError, match=f"^{re.escape(file)} is not a Parquet file, or it is damaged"):
        list(ALL_WORDS.iter_words(part))

"""Columns of TSV and JSON lines: values, and one sentence for each mistake."""

import gzip
import json

import pytest

from bitcipher.errors import BitcipherError
from training.data.table_rows import list_tables, read_columns


def read(path, *columns):
    (source,) = list_tables([str(path)])
    return list(read_columns(source, columns))


def test_columns_of_all_formats(tmp_path):
    rows = [("a dog", "ein Hund"), ('it\'s "quoted"', "–  zwei  Leerzeichen")]
    (tmp_path / "named.tsv").write_bytes(
        ("\ufeffid\tde\ten\r\n" + "".join(f"{n}\t{de}\t{en}\r\n" for n, (en, de) in enumerate(rows))).encode()
    )
    plain = "".join(f"{en}\t{de}\n\n" for en, de in rows).encode()  # blank lines are skipped
    (tmp_path / "plain.tsv.gz").write_bytes(gzip.compress(plain))
    lines = [json.dumps({"de": de, "other": [1], "en": en}, ensure_ascii=False) for en, de in rows]
    (tmp_path / "lines.jsonl").write_text("\n".join(lines), encoding="utf-8")
    assert read(tmp_path / "named.tsv", "en", "de") == rows
    assert read(tmp_path / "plain.tsv.gz", "1", "2") == rows
    assert read(tmp_path / "plain.tsv.gz", "2") == [(de,) for _, de in rows]
    assert read(tmp_path / "lines.jsonl", "en", "de") == rows


def test_labels_of_json_are_texts(tmp_path):
    (tmp_path / "a.json").write_text('{"label": 1}\n{"label": true}\n')
    assert read(tmp_path / "a.json", "label") == [("1",), ("true",)]


def test_line_separators_of_unicode_are_text(tmp_path):
    (tmp_path / "a.jsonl").write_bytes('{"text": "one\u2028two"}\n'.encode())
    (tmp_path / "a.tsv").write_bytes("one\u2028two\tthree\x0cfour\n".encode())
    assert read(tmp_path / "a.jsonl", "text") == [("one\u2028two",)]
    assert read(tmp_path / "a.tsv", "1", "2") == [("one\u2028two", "three\x0cfour")]


@pytest.mark.parametrize(
    ("name", "content", "columns", "fact"),
    [
        ("a.tsv", b"en\tde\na\tb\n", ("en", "fr"), r"Line 1 of .*a\.tsv names no column fr, but en, de"),
        ("a.tsv", b"a\tb\n", ("1", "3"), r"Line 1 of .* has no column 3, but 2 columns, numbered from 1"),
        ("a.tsv", b"a\tb\n", ("0", "1"), "no column 0"),
        ("a.tsv", b"a\tb\na\n", ("1", "2"), "Line 2 of .* has 1 columns instead of 2"),
        ("a.tsv", b"en\tde\na\tb\tc\n", ("en", "de"), "Line 2 of .* has 3 columns instead of 2"),
        ("a.tsv", b"a\tb\n \tb\n", ("1", "2"), "Line 2 of .* has no text in column 1"),
        ("a.tsv", b"a\tb\n\xff\tb\n", ("1", "2"), "Line 2 of .* is not text in UTF-8"),
        ("a.jsonl", b"{\n", ("a",), "Line 1 of .* is not JSON"),
        ("a.jsonl", b"[1]\n", ("a",), "Line 1 of .* is not a JSON object with the fields a"),
        ("a.jsonl", b'{"b": "c"}\n', ("a",), "Line 1 of .* has no field a, but b"),
        ("a.jsonl", b'{"a": null}\n', ("a",), "Line 1 of .* has no text in field a"),
        ("a.jsonl", b'{"a": ""}\n', ("a",), "Line 1 of .* has no text in column a"),
        ("a.jsonl", b'{"a": "\\ud800"}\n', ("a",), "half a surrogate pair"),
        ("a.tsv.gz", b"\x1f\x8bnothing", ("1",), r"a\.tsv\.gz"),
        ("a.csv", b"a,b\n", ("1",), r"a\.csv is not a table: its name must end in \.tsv"),
    ],
)
def test_mistakes_are_one_sentence(tmp_path, name, content, columns, fact):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(BitcipherError, match=fact):
        read(tmp_path / name, *columns)


def test_nested_lists_are_refused(tmp_path):
    (tmp_path / "a.jsonl").write_text("[" * 100_000)
    with pytest.raises(BitcipherError, match=r"Line 1 of .* is not JSON"):
        read(tmp_path / "a.jsonl", "a")


def test_long_lines_and_missing_files_are_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("training.data.table_rows.MAX_LINE_BYTES", 10)
    (tmp_path / "a.tsv").write_text("a\tb\n" + "c" * 20 + "\td\n")
    with pytest.raises(BitcipherError, match=r"Line 2 of .* is longer"):
        read(tmp_path / "a.tsv", "1", "2")
    with pytest.raises(BitcipherError, match=r"Cannot use .*none\.tsv"):
        list_tables([str(tmp_path / "none.tsv")])

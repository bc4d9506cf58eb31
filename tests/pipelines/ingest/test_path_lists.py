import gzip
import os

import pytest

from bitcipher.errors import BitcipherError
from pipelines.ingest import path_lists
from pipelines.ingest.path_lists import expand_list
from pipelines.ingest.sources import list_sources


def test_paths_are_relative_to_commoncrawl_or_to_the_list(tmp_path):
    lines = ["crawl-data/CC-MAIN-2024-22/a.warc.wet.gz", "", "part/b.txt\r", "/tmp/c.txt", "s3://bucket/d.txt"]
    text = "\n".join(lines)
    contents = {
        "wet.paths": text.encode(),
        "WET.PATHS.GZ": gzip.compress(text.encode()),
        "bom.paths": text.encode("utf-8-sig"),
        "utf16.paths": text.encode("utf-16"),
        "not-compressed.paths.gz": text.encode(),
        "compressed.paths": gzip.compress(text.encode("utf-16")),
    }
    for name, content in contents.items():
        path = tmp_path / name
        path.write_bytes(content)
        assert list(expand_list(str(path))) == [
            "https://data.commoncrawl.org/crawl-data/CC-MAIN-2024-22/a.warc.wet.gz",
            f"{tmp_path}/part/b.txt",
            "/tmp/c.txt",
            "s3://bucket/d.txt",
        ]


def test_other_patterns_are_not_lists():
    assert list(expand_list("a.txt")) == ["a.txt"]


def test_files_of_a_list_are_sources(tmp_path, monkeypatch):
    (tmp_path / "deep").mkdir()
    for name in ("a.txt", "deep/b.jsonl", "unlisted.txt"):
        (tmp_path / name).write_text("text")
    (tmp_path / "all.paths").write_text("a.txt\ndeep/b.jsonl\n")
    expected = [str(tmp_path / "a.txt"), str(tmp_path / "deep" / "b.jsonl")]
    assert [source.uri for source in list_sources([str(tmp_path / "all.paths")])] == expected
    monkeypatch.chdir(tmp_path)
    assert [source.uri for source in list_sources(["all.paths"])] == expected


def test_missing_files_of_a_list_raise_with_their_names(tmp_path):
    (tmp_path / "all.paths").write_text("gone.txt\n")
    with pytest.raises(BitcipherError, match=r"gone\.txt"):
        list_sources([str(tmp_path / "all.paths")])
    with pytest.raises(BitcipherError, match=r"other\.paths"):
        list_sources([str(tmp_path / "other.paths")])


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"a\0b\n", "NUL character"),
        (b"\xff\n", "not text in UTF-8"),
        (b"x" * 9999, "not a path"),
        (b"\x07", "not a path"),
    ],
)
def test_lines_that_are_not_paths_raise(tmp_path, content, message):
    (tmp_path / "b.txt").write_text("text")
    (tmp_path / "a.paths").write_bytes(b"b.txt\n" + content)
    with pytest.raises(BitcipherError, match=rf"Line 2 of .*a\.paths .*{message}"):
        list_sources([str(tmp_path / "a.paths")])


def test_damaged_and_long_lists_raise(tmp_path, monkeypatch):
    path = tmp_path / "a.paths.gz"
    path.write_bytes(gzip.compress(b"a.txt\n" * 9)[:-9])
    with pytest.raises(BitcipherError, match=r"a\.paths\.gz is not a complete gzip file"):
        list(expand_list(str(path)))
    monkeypatch.setattr(path_lists, "MAX_LIST_BYTES", 1 << 20)
    path.write_bytes(gzip.compress(bytes((1 << 20) + 1)))
    with pytest.raises(BitcipherError, match="more than 1 MiB"):
        list(expand_list(str(path)))
    monkeypatch.setattr(path_lists, "MAX_PATHS", 8)
    path.write_bytes(gzip.compress(b"a.txt\n" * 9))
    with pytest.raises(BitcipherError, match="more than 8 lines"):
        list(expand_list(str(path)))


def test_metadata_files_are_refused_by_name(tmp_path):
    path = tmp_path / "a.warc.wat.gz"
    path.write_bytes(b"x")
    (tmp_path / "b.txt").write_text("text")
    with pytest.raises(BitcipherError, match="holds metadata, not text"):
        list_sources([str(path)])
    assert [os.path.basename(source.uri) for source in list_sources([str(tmp_path)])] == ["b.txt"]

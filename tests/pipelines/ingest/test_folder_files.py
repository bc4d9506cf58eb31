"""Folders and globs: which files are read, and the sentence about the others."""

import pytest

from bitcipher.errors import BitcipherError
from pipelines.ingest.sources import check_target, list_sources

READ = ["part-0.jsonl", "_date=2024/a.jsonl", "sub/b.txt"]
SKIPPED = [
    *("_SUCCESS", "_temporary/0/part-0.jsonl", "__MACOSX/part-0.jsonl", ".part-0.jsonl.crc", "_metadata.parquet"),
    *("t1.csv", "t2.csv", "t3.csv.gz", "wiki_00", "README"),
]


@pytest.fixture
def corpus(tmp_path):
    for name in (*READ, *SKIPPED):
        path = tmp_path / "corpus" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("text")
    return tmp_path / "corpus"


def names(sources, folder):
    return sorted(source.uri.removeprefix(f"{folder}/") for source in sources)


@pytest.mark.parametrize("glob", ["", "/**"])
def test_temporary_files_are_skipped_and_unknown_endings_are_counted(corpus, glob):
    said = []
    assert names(list_sources([f"{corpus}{glob}"], say=said.append), corpus) == sorted(READ)
    (sentence,) = said
    for part in ("2 .csv (such as t1.csv)", "1 .csv.gz", "2 with no ending (such as README)", "hidden"):
        assert part in sentence
    assert str(corpus) in sentence


def test_files_given_by_name_are_read_without_a_sentence(corpus):
    said = []
    given = [str(corpus / name) for name in ("_metadata.parquet", "_temporary/0/part-0.jsonl")]
    assert len(list_sources(given, say=said.append)) == 2
    assert names(list_sources([f"{corpus}/_temporary"], say=said.append), corpus) == ["_temporary/0/part-0.jsonl"]
    assert names(list_sources([f"{corpus}/_meta*"], say=said.append), corpus) == ["_metadata.parquet"]
    assert names(list_sources([f"{corpus}/sub"], say=said.append), corpus) == ["sub/b.txt"]
    assert not said


def test_folder_without_readable_files_names_the_others(corpus):
    (corpus / "only").mkdir()
    (corpus / "only" / "_x.jsonl").write_text("")
    with pytest.raises(BitcipherError, match=r"no readable file\. Not read in .*: 1 hidden or temporary"):
        list_sources([str(corpus / "only")])


def test_target_in_a_source(corpus, monkeypatch):
    for pattern in (corpus, f"{corpus}/", f"{corpus}/**/*.txt", corpus.parent):
        with pytest.raises(BitcipherError, match="is inside of"):
            check_target([str(pattern)], f"{corpus}/out")
    monkeypatch.chdir(corpus)
    with pytest.raises(BitcipherError, match="is inside of"):
        check_target(["."], f"{corpus}/out")
    check_target([f"{corpus}/*.txt", f"{corpus}/out.txt", "-", "https://example.org/a"], f"{corpus}/out")
    check_target([str(corpus / "sub")], f"{corpus}/sub2")

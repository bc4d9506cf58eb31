import json

import pytest

from bitcipher.errors import BitcipherError
from pipelines.ingest.content_kinds import identify_content, identify_text
from pipelines.ingest.readers import ReadOptions, read_source
from pipelines.ingest.sources import list_sources

LINES = "".join(json.dumps({"text": f"Document {number}, with words."}) + "\n" for number in range(6))
PROSE = [
    "Call me Ishmael.\nSome years ago, never mind how long, I went to sea.\n",
    "Hello, world\nGoodbye, moon\nGood day, sun\n",
    "A:\tYeah.\nB:\tI know.\nA:\tOh.\nB:\tSo.\nA:\tWell.\n",
    "[Illustration]\nA ship.\n",
    "and/or\neither\n",
    "{\n  curly bracket\n",
    "WARCRAFT is a game.\n",
    "BZh is no compression here.\n",
    "ORCs and PAR1 are words.\n",
]


@pytest.mark.parametrize("text", PROSE)
def test_prose_is_no_other_kind(text):
    assert identify_text(text) is None
    assert identify_content(text.encode()).noun == "plain text"


@pytest.mark.parametrize(
    ("text", "noun"),
    [
        (LINES, "JSON lines"),
        (f"\n{LINES}", "JSON lines"),
        (json.dumps([{"text": "a"}], indent=1), "a JSON array"),
        (json.dumps({"text": "a"}, indent=1), "JSON over several lines"),
        ("<!DOCTYPE html>\n<p>words", "an HTML page"),
        ("\n <HTML>", "an HTML page"),
        ("<?xml version='1.0'?><mediawiki>", "an XML document"),
        ('id,text\n0,some words\n1,"more, words"\n', "a table of 2 columns"),
        (",word,count\n0,the,9\n", "a table of 3 columns"),
        ("label\ttext\n1\tsome words\n", "a table of 2 columns"),
        ("id;text\n0;some words\n", "a table of 2 columns"),
        ("a\t1\nb\t2\nc\t3\nd\t4\ne\t5\n", "a table of 2 columns"),
        ("crawl-data/a/b.warc.gz\ncrawl-data/a/c.warc.gz\n", "a list of paths"),
        ("https://example.org/a\ns3://bucket/b.jsonl\n", "a list of paths"),
        ("WARC/1.0\r\nWARC-Type: warcinfo\r\n", "a WARC file"),
    ],
)
def test_other_kinds_in_a_text_file_are_refused_with_the_option(tmp_path, text, noun):
    (tmp_path / "a.txt").write_text(text)
    (source,) = list_sources([str(tmp_path / "a.txt")])
    with pytest.raises(BitcipherError, match=f"a.txt is {noun}.*`--format text`"):
        list(read_source(source, ReadOptions()))
    documents = list(read_source(source, ReadOptions(format="text")))
    assert ["".join(document.strings) for document in documents] == text.rstrip("\n").replace("\r", "").split("\n")


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-16-le"])
def test_kinds_are_recognized_in_other_encodings(tmp_path, encoding):
    (tmp_path / "a.txt").write_bytes(LINES.encode(encoding))
    options = ReadOptions(encoding="utf-16-le") if encoding == "utf-16-le" else ReadOptions()
    (source,) = list_sources([str(tmp_path / "a.txt")])
    with pytest.raises(BitcipherError, match="is JSON lines"):
        list(read_source(source, options))


@pytest.mark.parametrize("name", ["a.parquet", "a.arrow", "a.warc", "a.arc.gz", "a.wet.gz"])
@pytest.mark.parametrize(("text", "noun"), [(LINES, "JSON lines"), ("Some words.\n" * 40, "plain text")])
def test_intact_text_with_a_name_of_another_format_is_not_damaged(tmp_path, name, text, noun):
    (tmp_path / name).write_text(text)
    (source,) = list_sources([str(tmp_path / name)])
    with pytest.raises(BitcipherError, match=f"is {noun}, and its name is that of") as error:
        list(read_source(source, ReadOptions()))
    assert "ownload" not in str(error.value)

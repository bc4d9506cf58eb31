"""Small inputs that are not quite what their names or declarations say: read right, or refused in one sentence."""

from pathlib import Path
from typing import NamedTuple

import pyarrow as pa
import pytest
from document_shards import read_documents

from bitcipher import CipherVectors

CASES = Path(__file__).parent.parent / "cases"
UNICODE = "rules: [{rule: unicode}]"
INVISIBLE = "\u00ad\u200b\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\ufeff"


class Case(NamedTuple):
    """An input of `bitcipher shard`, and what is right."""

    path: str
    documents: int
    """Number of kept documents."""
    parts: tuple[str, ...] = ()
    """Strings that occur in the documents."""
    output: tuple[str, ...] = ()
    """Strings that occur in the output of the command."""
    options: tuple[str, ...] = ()
    """Further arguments."""


READ = [
    Case("encodings/hdrlatin1-metautf8.warc.gz", 1, ("“", "’"), ("page in utf-8 (cp1252 was declared)",)),
    Case("encodings/nohdr-metalatin1.warc.gz", 1, ("“", "’"), ("page in utf-8 (cp1252 was declared)",)),
    Case("encodings/cs-utf8-as-sjis.warc.gz", 1, ("古い港町の博物館",), ("page in utf-8 (cp932 was declared)",)),
    Case("encodings/nino-latin1.txt", 19, ("El Niño", "piñata", "mañana"), ("file in cp1252 (guessed)",)),
    Case("warc/plain-html.warc.gz", 1, ("plainhtml\n\nChildren like",), ("text/html (sent as text/plain)",)),
    Case("warc/noct-ident.warc.gz", 1, ("noctident",), ("sent without a valid type",)),
    Case("warc/texthtml-typo.warc.gz", 1, ("typoct",), ("sent without a valid type",)),
    Case("warc/norecct.warc.gz", 1, ("norecct",)),
    Case("warc/lc-type.warc.gz", 1, ("lowtype",)),
    Case("warc/g2dict.warc.zst", 60, ("zd0", "zd59")),
    Case("warc/plain.warc.gz", 5, ("zs0", "zs4")),
    Case("warc/gz.warc", 5, ("zs0", "zs4")),
    Case("warc/rawdeflate.warc.gz", 1, ("rawdeflatepage",)),
    Case("files/binary.parquet", 6, ("A small garden",)),
    Case("files/dict.parquet", 6, ("A small garden",)),
    Case("files/nulltype.parquet", 0, (), ("1 source has no text", "nulltype.parquet")),
    Case("files/nested.jsonl", 6, ("A small garden",), (), ("--field", "data.text")),
    Case("folders/d1", 6, (), (" no ending", ".tmp", ".crc", "6 hidden or temporary")),
    Case("folders/d2wiki", 2, (), ("3 with no ending (such as wiki_00)",)),
    Case("folders/d5mix", 2, (), ("3 .csv",)),
]

REFUSED = [
    ("files/array.json", "a JSON array", ()),
    ("files/nan.jsonl", "Line 1 of .* is not JSON", ()),
    ("files/t.csv", "its ending is unknown", ()),
    ("files/books.zip", "its ending is unknown", ()),
    ("files/jsonl_named_txt.txt", "is JSON lines, and its name is that of plain text: give `--format jsonl`", ()),
    ("files/trunc.jsonl.gz", "is truncated: it ends in the middle of its compressed data, after line", ()),
    ("folders/d3onebad", "bad3.jsonl.gz is truncated", ()),
]


@pytest.mark.parametrize("case", READ, ids=[case.path for case in READ])
def test_input_is_read_as_it_was_written(run_command, tmp_path, case):
    result = run_command("shard", CASES / case.path, "--out", tmp_path / "out", "--workers", 0, *case.options)
    assert result.code == 0, result.err
    texts = read_documents(tmp_path / "out")["text"].to_pylist() if case.documents else []
    assert len(texts) == case.documents
    assert not [part for part in case.parts if not any(part in text for text in texts)]
    assert not [text for text in texts if "\ufffd" in text or "<p>" in text or "â€" in text]
    assert not [part for part in case.output if part not in result.out + result.err]


@pytest.mark.parametrize(("path", "sentence", "options"), REFUSED, ids=[path for path, *_ in REFUSED])
def test_input_is_refused_in_one_true_sentence(run_command, tmp_path, path, sentence, options):
    result = run_command("shard", CASES / path, "--out", tmp_path / "out", "--workers", 0, *options)
    assert result.code == 2
    assert result.err.count("\n") == 1
    assert pa.compute.match_substring_regex(pa.array([result.err]), sentence)[0].as_py(), result.err


def test_json_lines_named_txt_are_refused_by_build_and_read_with_the_format(run_command, tmp_path):
    arguments = ("build", CASES / "files/jsonl_named_txt.txt", "--out", tmp_path / "out", "--min-count", 1)
    assert "is JSON lines" in run_command(*arguments).err
    assert not (tmp_path / "out").exists()
    assert run_command(*arguments, "--format", "jsonl", "--workers", 0).code == 0
    assert "garden" in CipherVectors.load(tmp_path / "out")
    assert "text" not in CipherVectors.load(tmp_path / "out")  # the name of the field


@pytest.mark.parametrize("name", ["redpajama.jsonl", "dicturl.parquet", "flat.jsonl"])
def test_rules_of_hosts_see_urls_in_all_layouts(run_command, tmp_path, name):
    recipe = CASES / "metadata/host.yaml"
    result = run_command(
        "shard", CASES / "metadata" / name, "--recipe", recipe, "--out", tmp_path / "out", "--workers", 0
    )
    assert result.code == 0
    table = read_documents(tmp_path / "out")
    assert len(table) == 14
    assert all(url.startswith("http://") and "blocked" not in url for url in table["url"].to_pylist())
    lines = [set(text.split("\n")) for text in table["text"].to_pylist()]
    common = set.intersection(*lines[:10])
    assert not common
    assert ("url in meta.url" in result.out) == (name == "redpajama.jsonl")


def test_rule_without_input_says_so(run_command, tmp_path):
    source, recipe = CASES / "files/uni.jsonl", CASES / "metadata/host.yaml"
    result = run_command("shard", source, "--recipe", recipe, "--out", tmp_path / "out", "--workers", 0)
    assert "No document has a URL with a host, so the rule `blocklist` and `host_lines` do nothing" in result.out
    assert "No document has a URL" in (tmp_path / "out/report.html").read_text()


def test_unicode_rule_removes_invisible_characters(run_command, tmp_path):
    recipe = tmp_path / "unicode.yaml"
    recipe.write_text(UNICODE)
    source = CASES / "files/uni.jsonl"
    run_command("shard", source, "--recipe", recipe, "--out", tmp_path / "out", "--workers", 0)
    text = "\n".join(read_documents(tmp_path / "out")["text"].to_pylist())
    assert not set(text) & set(INVISIBLE)
    assert "می‌خواهم" in text
    assert "👨‍👩‍👧‍👦" in text


def test_build_has_no_invisible_characters_in_words_and_lookups_normalize(run_command, tmp_path):
    result = run_command(
        "build", CASES / "files/uni.jsonl", "--out", tmp_path / "out", "--min-count", 1, "--workers", 0
    )
    assert result.code == 0, result.err
    vectors = CipherVectors.load(tmp_path / "out")
    assert not set("".join(vectors.index_to_key)) & set(INVISIBLE)
    assert {"museum", "width", "می‌خواهم", "كتاب"} <= set(vectors.index_to_key)
    assert vectors.get_index("mu\u00adse\u00adum") == vectors.get_index("museum")


@pytest.mark.parametrize("target", ["out", "deep/out"])
def test_target_in_the_source_is_refused(run_command, tmp_path, target):
    (tmp_path / "a.txt").write_text("some words\n")
    for command in ("shard", "build"):
        result = run_command(command, tmp_path, "--out", tmp_path / target, "--workers", 0)
        assert result.code == 2
        assert f"{tmp_path / target} is inside of {tmp_path}, which is read" in result.err
    assert [path.name for path in tmp_path.iterdir()] == ["a.txt"]

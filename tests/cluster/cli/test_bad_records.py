"""Lines about bad records in the output of `build`, `update`, `status`, `inspect` and `study downscaling filter`."""

import json

import pytest

from cluster.cli.display.records import describe_records
from pipelines.ingest.record_counts import RecordCounts

SMALL = ("--tokenizer", "whitespace", "--mode", "cat", "--min-count", 1)


@pytest.fixture
def run(run_command):
    """Run a command in process; return its output."""

    def call(*arguments):
        code, out, err = run_command(*arguments)
        assert (code, err) == (0, "")
        return out

    return call


def write_corpus(path, documents, bad):
    lines = [json.dumps({"text": f"the cat and the dog {i}"}) for i in range(documents)]
    path.write_text("\n".join([*lines, *["{"] * bad]))
    return path


@pytest.mark.parametrize(
    ("counts", "line"),
    [
        ({}, None),
        ({"skipped": {"status 404": 9}}, None),
        ({"replacements": 1}, "1 character could not be decoded."),
        ({"bad": {"not JSON": 1}, "example": "Line 3."}, "1 bad record was left out (not JSON 1). *Line 3."),
        (
            {"bad": {"not JSON": 4, "truncated": 1008}, "replacements": 5, "example": "Line 3."},
            "1,012 bad records were left out (truncated 1,008, not JSON 4), and 5 characters could not be decoded. "
            "*Line 3.",
        ),
        ({"bad": {"a": 1}, "example": "in \x1b[31m"}, "1 bad record was left out (a 1). *'in \\x1b[31m'"),
    ],
)
def test_bad_records_are_described_in_one_line(counts, line):
    assert describe_records(RecordCounts(**counts)) == (line and line.replace("*", "The first bad record: "))


def test_build_and_update_print_bad_records(run, tmp_path):
    build, one = tmp_path / "build", write_corpus(tmp_path / "one.jsonl", 300, 2)
    out = run("build", one, *SMALL, "--out", build)
    expected = f"2 bad records were left out (not JSON 2). The first bad record: Line 301 of {one} is not JSON"
    assert out.splitlines()[-1].startswith(expected)
    other = tmp_path / "other.txt"
    other.write_text("the cat and the caf\ufffd\n")
    line = run("update", build, other).splitlines()[-1]
    assert line.startswith("2 bad records were left out (not JSON 2), and 1 character could not be decoded. The first")
    status = run("status", build).splitlines()
    assert status[0].startswith("version 1: 300 documents (2 bad records), ")
    assert status[1].startswith("version 2: 301 documents (2 bad records, 1 undecodable character), ")
    inspected = run("inspect", build)
    assert line in inspected.splitlines()
    assert "not JSON: 2" in inspected


def test_build_without_bad_records_prints_no_line(run, tmp_path):
    write_corpus(tmp_path / "one.jsonl", 20, 0)
    out = run("build", tmp_path / "one.jsonl", *SMALL, "--out", tmp_path / "build")
    assert "left out" not in out
    assert "version 1: 20 documents, " in run("status", tmp_path / "build")


def test_filter_prints_bad_records(run, tmp_path):
    (tmp_path / "words.txt").write_text("the cat and dog".replace(" ", "\n"))
    write_corpus(tmp_path / "one.jsonl", 300, 3)
    arguments = (tmp_path / "one.jsonl", "--vocabulary", tmp_path / "words.txt", "--out", tmp_path / "out")
    out = run("study", "downscaling", "filter", *arguments, "--span", 5, "--stride", 5, "--level", "spans")
    assert "3 bad records were left out (not JSON 3). The first bad record: Line 301 of " in out.splitlines()[-1]

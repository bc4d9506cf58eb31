"""Standard input as a source of commands."""

import gzip
import json
import subprocess
import sys

import pytest

from pipelines.shard.document_version import read_newest

LINES = b"".join(json.dumps({"text": text}).encode() + b"\n" for text in ("The cat saw the dog.", "قال القط"))


def run(folder, *arguments, content):
    command = [sys.executable, "-m", "cluster.cli.main", *arguments]
    return subprocess.run(command, input=content, cwd=folder, capture_output=True, check=False)


@pytest.mark.parametrize("pack", [bytes, gzip.compress], ids=["plain", "gzip"])
def test_shard_reads_standard_input_and_recognizes_it(tmp_path, pack):
    arguments = ("shard", "-", "--format", "jsonl", "--out", "documents")
    first = run(tmp_path, *arguments, content=pack(LINES))
    assert first.returncode == 0, first.stderr
    assert "2 documents with 7 words" in first.stdout.decode()
    (source,) = read_newest(str(tmp_path / "documents")).sources
    assert source.uri.startswith("stdin-")
    more = run(tmp_path, *arguments, content=pack(LINES + b'{"text": "One more."}\n'))
    assert "Version 2: 3 documents" in more.stdout.decode()


def test_empty_standard_input_gives_one_sentence(tmp_path):
    result = run(tmp_path, "sample", "-", content=b"")
    assert (result.returncode, result.stdout) == (2, b"")
    assert result.stderr == b"bitcipher: Standard input is empty: there is no text to read.\n"

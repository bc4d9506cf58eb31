"""Output to closed pipes, full disks and terminals of another encoding: a command whose work is done succeeds."""

import os
import subprocess
import sys

import numpy as np
import pytest

from bitcipher.vectors.cipher_vectors import CipherVectors
from bitcipher.versions import versions

COMMAND = [sys.executable, "-m", "cluster.cli.main"]


@pytest.fixture(scope="module")
def vectors(tmp_path_factory) -> str:
    path = str(tmp_path_factory.mktemp("vectors") / "vectors")
    CipherVectors(["naïve", "قلب", "🙂"], np.eye(3, dtype=np.float32)).save(path)
    return path


def run(*arguments, stdout=subprocess.PIPE, **environment):
    return subprocess.run(
        [*COMMAND, *map(str, arguments)],
        stdout=stdout,
        stderr=subprocess.PIPE,
        env={**os.environ, **environment},
        timeout=60,
        check=False,
    )


@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_characters_that_the_encoding_lacks_are_escaped(vectors, unbuffered):
    result = run("neighbors", vectors, "قلب", PYTHONIOENCODING="ascii", PYTHONUNBUFFERED=unbuffered)
    assert (result.returncode, result.stderr) == (0, b"")
    assert rb"\u0642\u0644\u0628" in result.stdout


@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_full_disk_of_the_output_gives_one_sentence(vectors, unbuffered):
    with open("/dev/full", "wb") as full:
        result = run("neighbors", vectors, "قلب", stdout=full, PYTHONUNBUFFERED=unbuffered)
    sentence = b"bitcipher: cannot print the output (No space left on device), but the command has ended.\n"
    assert (result.returncode, result.stderr) == (2, sentence)


@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_build_is_published_although_nobody_reads_its_output(tmp_path, unbuffered):
    (tmp_path / "a.txt").write_text("a b c d\nb c d a\n" * 20)
    reader, writer = os.pipe()
    os.close(reader)
    options = ("--tokenizer", "whitespace", "--mode", "cat", "--min-count", 1)
    arguments = ("build", tmp_path / "a.txt", "--out", tmp_path / "out", *options)
    result = run(*arguments, stdout=writer, PYTHONUNBUFFERED=unbuffered)
    os.close(writer)
    assert (result.returncode, result.stderr) == (0, b"")
    assert versions(str(tmp_path / "out")) == [1]

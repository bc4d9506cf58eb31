"""Output and errors of `bitcipher export`."""

import sys

import numpy as np
import pytest

from bitcipher import CipherVectors
from bitcipher.formats import FORMATS
from cluster.cli.main import main


@pytest.fixture
def command(monkeypatch, capsys, tmp_path):
    monkeypatch.chdir(tmp_path)
    CipherVectors(["cat", "dog", "<oov>"], np.eye(3, 2, dtype=np.float32), [3, 2, 1]).save("vectors")

    def run(*arguments: str) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["bitcipher", "export", *arguments])
        with pytest.raises(SystemExit) as end:
            main()
        captured = capsys.readouterr()
        return end.value.code, captured.out, captured.err

    return run


def test_help_lists_every_format_with_its_libraries(command):
    code, out, _ = command("--help")
    assert code == 0
    for name, each in FORMATS.items():
        (line,) = (line for line in out.splitlines() if line.split()[:1] == [name])
        assert each.opened_by.split(",")[0] in line


def test_export_writes_a_file_and_prints_its_size(command):
    code, out, _ = command("vectors", "--format", "parquet", "--out", "vectors.parquet")
    assert (code, out) == (0, "3 words, 2 dimensions → vectors.parquet (Arrow, pandas, Polars, DuckDB)\n")
    assert CipherVectors.read("vectors.parquet").counts.tolist() == [3, 2, 1]


def test_mistakes_print_one_sentence(command):
    assert command("vectors", "--format", "glove", "--out", "out")[0] == 0
    for arguments, sentence in (
        (("vectors", "--format", "glove", "--out", "out"), "already"),
        (("vectors", "--format", "word3vec", "--out", "new"), "There is no format 'word3vec'"),
        (("vectors", "--format", "gensim", "--out", "new"), "write word2vec-binary"),
        (("nothing", "--format", "glove", "--out", "new"), "nothing is not a"),
        (("vectors", "--format", "glove", "--out", "new", "--version", "2"), "vectors is not a build"),
    ):
        code, _, error = command(*arguments)
        assert code == 2
        assert error.startswith("bitcipher: ")
        assert sentence in error
        assert error.count("\n") == 1

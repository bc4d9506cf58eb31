"""Output and errors of `bitcipher export`."""

from functools import partial
from pathlib import Path

import numpy as np
import pytest
from builds import OPTIONS, run_build, write_lines
from scipy.sparse import load_npz

from bitcipher import CipherVectors
from bitcipher.formats.registry import FORMATS


@pytest.fixture
def command(monkeypatch, tmp_path, run_command):
    monkeypatch.chdir(tmp_path)
    CipherVectors(["cat", "dog", "<oov>"], np.eye(3, 2, dtype=np.float32), [3, 2, 1]).save("vectors")
    return partial(run_command, "export")


def test_help_lists_every_format_with_its_libraries(command):
    code, out, _ = command("--help")
    assert code == 0
    for name, libraries in {**{name: each.opened_by for name, each in FORMATS.items()}, "counts": "scipy"}.items():
        (line,) = (line for line in out.splitlines() if line.split()[:1] == [name])
        assert libraries.split(",")[0] in line


def test_export_writes_a_file_and_prints_its_size(command):
    code, out, _ = command("vectors", "--format", "parquet", "--out", "vectors.parquet")
    assert (code, out) == (0, "3 words, 2 dimensions → vectors.parquet (Arrow, pandas, Polars, DuckDB)\n")
    assert CipherVectors.load("vectors.parquet").counts.tolist() == [3, 2, 1]


def test_export_writes_the_counts_of_a_build(command):
    source = write_lines(Path("texts.jsonl"), ["the cat saw the dog"])
    run_build([source], "build", OPTIONS.copy_with(min_count=1, window=2))
    code, out, _ = command("build", "--format", "counts", "--out", "counts")
    assert (code, out) == (0, "5 words, window 2 → counts (scipy.sparse.load_npz, Arrow)\n")
    assert load_npz("counts/cooccurrence-offset-01.npz").sum() == 4


def test_mistakes_print_one_sentence(command):
    assert command("vectors", "--format", "glove", "--out", "out")[0] == 0
    for arguments, sentence in (
        (("vectors", "--format", "glove", "--out", "out"), "already"),
        (("vectors", "--format", "word3vec", "--out", "new"), "There is no format 'word3vec'"),
        (("vectors", "--format", "gensim", "--out", "new"), "write word2vec-binary"),
        (("nothing", "--format", "glove", "--out", "new"), "There is no build and no folder of vectors nothing"),
        (("vectors", "--format", "glove", "--out", "new", "--version", "2"), "vectors is not a build"),
        (("vectors", "--format", "counts", "--out", "new"), "vectors is a folder of vectors without counts"),
        (("nothing", "--format", "counts", "--out", "new"), "There is no build nothing"),
    ):
        code, _, error = command(*arguments)
        assert code == 2
        assert error.startswith("bitcipher: ")
        assert sentence in error
        assert error.count("\n") == 1

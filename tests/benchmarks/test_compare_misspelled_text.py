"""`compare_misspelled_text.py` and `compare_byte_spelling.py` with a tiny BERT and few words."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import tiny_commands
from gensim.models import FastText
from gensim.models.fasttext import save_facebook_model
from typer.testing import CliRunner

from bitcipher import CipherVectors
from cluster.cli.main import app

HERE = Path(__file__).parent
MISSPELLED = "misspelling\tcorrect\n" + "".join(f"{word}x\t{word}\n" for word in ("the", "of", "and", "in", "to", "on"))


def run(script, *arguments):
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": str(HERE.parents[1])}
    command = [sys.executable, HERE / script, *arguments]
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr
    return [
        [[cell.strip() for cell in line.split("|")[1:-1]] for line in part.splitlines()]
        for part in done.stdout.strip().split("\n\n")
    ]


@pytest.mark.slow
def test_rows_of_misspelled_text(tmp_path):
    bert = ("model.architecture=bert", "objective={name: masked}", "model.max_position_embeddings=128")
    model = tiny_commands.train(tmp_path, tmp_path / "run", *bert, "text.tokenizer.lowercase=true")
    line = [
        *("study", "byte-embeddings", "align"),
        model,
        "--out",
        tmp_path / "small",
        "--set",
        "size=small",
        "--set",
        "epochs=1",
    ]
    assert CliRunner().invoke(app, list(map(str, line))).exit_code == 0
    (tmp_path / "words.tsv").write_text(MISSPELLED)
    corpus = tmp_path / "corpus"
    command = [model, tmp_path / "small", "--text", corpus, "--tuning-text", corpus, "--passages", "32", "--steps", "2"]
    _, table = run("compare_misspelled_text.py", *command, "--misspellings", tmp_path / "words.tsv")
    assert table[0][:3] == ["input embeddings", "clean", "misspelled 25%"]
    assert [row[0] for row in table[2:]] == ["table", "small, tokens", "small, words", "small, words, fine-tuned"]
    assert all(0 <= float(cell.split()[0]) <= 100 for row in table[2:] for cell in row[1:])


@pytest.mark.slow
def test_rows_of_unknown_words(tmp_path):
    words = [f"{stem}{ending}" for stem in ("walk", "talk", "jump", "laugh", "work") for ending in ("s", "ed", "ing")]
    table = np.hstack([np.repeat(np.eye(5), 3, axis=0), np.tile(np.eye(3), (5, 1))])
    CipherVectors(words, table, np.tile([2000, 20, 2], 5)).save(tmp_path / "vectors")
    (tmp_path / "words.tsv").write_text("misspelling\tcorrect\nwallks\twalks\ntalkking\ttalking\n")
    peer = FastText([words], vector_size=8, min_count=1, epochs=1, bucket=100, seed=1, workers=1)
    save_facebook_model(peer, str(tmp_path / "peer.bin"))
    command = [tmp_path / "vectors", "--misspellings", tmp_path / "words.tsv", "--fasttext", tmp_path / "peer.bin"]
    held_out, misspelled = run("compare_byte_spelling.py", *command, "--set", "epochs=1")
    names = ["mean", "n-grams", "BytesCNN small"]
    assert {tuple(row[:3]) for row in held_out[2:]} > {(name, "10 – 29", "5") for name in names}
    assert [row[:3] for row in misspelled[2:]] == [[name, "words.tsv", "2"] for name in (*names, "fastText")]

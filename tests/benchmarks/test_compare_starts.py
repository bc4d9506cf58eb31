"""`compare_starts.py` on a tiny text."""

import json
import os
import random
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from bitcipher import CipherVectors

HERE = Path(__file__).parent
WORDS = ["the", "cat", "dog", "sees", "likes", "a", "bird", "house", "king", "queen"]
SETTINGS = (
    *("text.tokenizer.vocab_size=300", "text.validation_fraction=0.1", "model.hidden_size=16"),
    *("model.intermediate_size=16", "model.num_hidden_layers=1", "model.max_position_embeddings=16"),
)


@pytest.mark.slow
def test_all_starts_are_compared(tmp_path):
    draw = random.Random(0)
    forms = [word + ending for word in WORDS for ending in ("", "s", "ed")]
    (tmp_path / "text.txt").write_text("\n".join(" ".join(draw.choices(forms, k=40)) for _ in range(300)))
    published = CipherVectors(WORDS, np.random.default_rng(0).normal(size=(len(WORDS), 5)).astype(np.float32))
    published.save(str(tmp_path / "published"))
    command = [sys.executable, HERE / "compare_starts.py", "--data", tmp_path / "text.txt", "--glove"]
    command += [tmp_path / "published", "--out", tmp_path / "out", "--objectives", "causal", "--seeds", "2"]
    command += ["--steps", "6", "--cold-steps", "12", "--tuning-steps", "2", "--set", *SETTINGS]
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": str(HERE.parents[1])}
    for _ in range(2):  # the second call trains nothing
        done = subprocess.run(command, capture_output=True, text=True, env=environment)
        assert done.returncode == 0, done.stderr
        rows = [line for line in done.stdout.splitlines() if line.startswith("| ")]
        assert [row.split()[1] for row in rows if " 2 | " in row[:20]][:4] == ["cold", "cipher", "cipher-read", "glove"]
    folder = tmp_path / "out" / "causal"
    assert len(json.loads((folder / "tuned.json").read_text())) == 24  # twice three rates, two warmups and two scales
    assert (folder / "comparison" / "lead.png").exists()
    # A run reads 6 steps of 32 sequences of 16 tokens. Each has its own vectors of tokens.
    assert len((folder / "read.jsonl").read_text().splitlines()) == 6 * 32
    assert set(CipherVectors.load(str(folder / "glove")).index_to_key) <= {f"Ġ{word}" for word in WORDS}

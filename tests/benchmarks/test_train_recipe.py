"""`train_recipe.py` on a tiny text."""

import json
import os
import random
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent


@pytest.mark.slow
def test_recipe_is_trained_for_cpu_seconds(tmp_path):
    draw = random.Random(0)
    lines = [" ".join(draw.choices(["the", "cat", "dog", "sees", "likes", "a", "bird"], k=30)) for _ in range(200)]
    (tmp_path / "text.txt").write_text("\n".join(lines))
    settings = [f"text.sources=[{tmp_path / 'text.txt'}]", "text.validation_fraction=0.2"]
    sizes = {"hidden_size": 16, "num_attention_heads": 2, "num_hidden_layers": 1, "max_position_embeddings": 16}
    settings += [*(f"model.{name}={size}" for name, size in sizes.items()), "text.tokenizer.vocab_size=280"]
    done = subprocess.run(
        [sys.executable, HERE / "train_recipe.py", "1", tmp_path / "prepared", "masked", *settings],
        capture_output=True,
        text=True,
        env={**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": str(HERE.parents[1])},
    )
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    assert result["recipe"] == "masked"
    assert result["step"] == result["steps"] > 0
    assert result["cpu"] > 0
    assert result["perplexity"] < 280

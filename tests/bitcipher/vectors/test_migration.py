"""A script of gensim runs with bitcipher if only its import changes, with the same results."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

SCRIPT = Path(__file__).with_name("migration_script.py").read_text()
IMPORT = "from gensim.models import KeyedVectors"


@pytest.fixture
def folder(tmp_path, monkeypatch) -> Path:
    random = np.random.default_rng(3)
    words, rows = [f"w{number}" for number in range(60)], random.standard_normal((60, 8)).astype(np.float32)
    lines = (word.encode() + b" " + row.tobytes() + b"\n" for word, row in zip(words, rows, strict=True))
    (tmp_path / "vectors.bin").write_bytes(b"60 8\n" + b"".join(lines))
    (tmp_path / "vectors.vocab").write_text("".join(f"{word} {900 - 5 * i}\n" for i, word in enumerate(words)))
    pairs = "".join(f"w{i}\tw{(7 * i) % 50}\t{i % 9}\n" for i in range(1, 30)) + "w1\tnowhere\t3\n"
    (tmp_path / "pairs.tsv").write_text(pairs)
    questions = "".join(f"w{i} w{i + 1} w{i + 2} w{i + 3}\n" for i in range(1, 20))
    (tmp_path / "analogies.txt").write_text(f": first\n{questions}: second\nw30 w31 w32 w33\nw1 w2 w3 nowhere\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.filterwarnings("ignore")  # gensim's, about vectors that are added one by one
def test_script_gives_the_results_of_gensim(folder, monkeypatch):
    monkeypatch.setenv("POT_BACKEND_DISABLE_PYTORCH", "1")  # POT would import torch, which takes ten seconds
    expected = run(SCRIPT)
    Path("saved.kv").unlink()  # gensim's file; bitcipher writes a folder
    assert IMPORT in SCRIPT
    found = run(SCRIPT.replace(IMPORT, "from bitcipher import CipherVectors as KeyedVectors"))
    assert found.keys() == expected.keys()
    for name, value in expected.items():
        assert_same(found[name], value, name)


def run(script: str) -> dict[str, Any]:
    names: dict[str, Any] = {}
    exec(script, names)
    return names["results"]


def assert_same(found: Any, expected: Any, name: str) -> None:
    if isinstance(expected, list | tuple):
        assert len(found) == len(expected), name
        for one, other in zip(found, expected, strict=True):
            assert_same(one, other, name)
    elif isinstance(expected, np.ndarray):
        np.testing.assert_allclose(found, expected, atol=2e-6, err_msg=name)
    elif isinstance(expected, float | np.floating):
        assert found == pytest.approx(expected, abs=2e-6), name
    else:
        assert found == expected, name

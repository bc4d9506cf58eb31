import sys

import numpy as np
import pytest
from scipy.optimize import linprog

from bitcipher.errors import BitcipherError
from bitcipher.vectors.cipher_vectors import CipherVectors


@pytest.fixture(autouse=True)
def _without_torch(monkeypatch):
    monkeypatch.setenv("POT_BACKEND_DISABLE_PYTORCH", "1")  # POT would import torch, which takes ten seconds
    pytest.importorskip("ot")


def table() -> CipherVectors:
    rows = np.random.default_rng(1).standard_normal((9, 4)).astype(np.float32)
    return CipherVectors([f"w{number}" for number in range(8)] + ["<oov>"], rows)


def plain_distance(vectors: CipherVectors, first: list[str], second: list[str]) -> float:
    """Return the lowest cost of a plan that moves each occurrence of a word, as a linear program."""
    costs = [np.linalg.norm(vectors.get_vector(a, True) - vectors.get_vector(b, True)) for a in first for b in second]
    plan = np.arange(len(costs)).reshape(len(first), len(second))
    sums = [np.isin(np.arange(len(costs)), line) for line in (*plan, *plan.T)]
    masses = [1 / len(first)] * len(first) + [1 / len(second)] * len(second)
    return linprog(costs, A_eq=np.array(sums, float), b_eq=masses).fun


@pytest.mark.parametrize(
    ("first", "second"),
    [(["w0"], ["w1"]), (["w0", "w1", "w1"], ["w2", "w3"]), (["w0", "w1"], ["w0", "w1"]), (["w4"] * 3, ["w4", "w5"])],
)
def test_distance_is_that_of_the_linear_program(first, second):
    assert table().wmdistance(first, second) == pytest.approx(plain_distance(table(), first, second), abs=1e-6)


def test_unknown_words_are_left_out_unless_oov_is_true():
    vectors = table()
    assert vectors.wmdistance(["w0", "unheard"], ["w1"]) == vectors.wmdistance(["w0"], ["w1"])
    assert vectors.wmdistance(["unheard"], ["w1"]) == float("inf")
    assert vectors.wmdistance(["unheard"], ["w1"], oov=True) == vectors.wmdistance(["<oov>"], ["w1"])


def test_text_and_missing_package_give_a_sentence(monkeypatch):
    with pytest.raises(BitcipherError, match="lists of words"):
        table().wmdistance("w0 w1", ["w2"])
    monkeypatch.setitem(sys.modules, "ot", None)
    with pytest.raises(BitcipherError, match=r"pip install .*\[wmd\]"):
        table().wmdistance(["w0"], ["w1"])

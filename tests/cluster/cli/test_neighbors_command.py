"""Words, sums of words, and unknown words of `bitcipher neighbors`."""

import re

import numpy as np
import pytest

from bitcipher import CipherVectors

WORDS = ["king", "man", "woman", "queen", "Paris", "paris", "PARIS", "<oov>", "lonely"]


@pytest.fixture
def vectors(tmp_path):
    """Vectors in which king - man + woman is queen; the most frequent Paris has a capital."""
    table = np.random.default_rng(1).normal(size=(len(WORDS), 40)).astype(np.float32)
    table /= np.linalg.norm(table, axis=1, keepdims=True)
    table[3] = table[0] - table[1] + table[2]
    table[[7, 8]] = 0
    vectors = CipherVectors(WORDS, table)
    vectors.save(tmp_path / "vectors")
    return vectors


@pytest.fixture
def neighbors(run_command, tmp_path, vectors):
    def call(*arguments):
        return run_command("neighbors", tmp_path / "vectors", *arguments, "--topn", 1)

    return call


def test_analogy(neighbors, vectors):
    code, out, err = neighbors("king", "--minus", "man", "--plus", "woman")
    assert (code, err) == (0, "")
    assert out.startswith("king + woman - man  cosine\nqueen ")
    ((word, cosine),) = vectors.most_similar(["king", "woman"], ["man"], topn=1)
    assert f"{word} " in out
    assert f"{cosine:.3f}" in out


def test_each_word_is_a_query(neighbors):
    code, out, _ = neighbors("king", "queen", "--plus", "woman")
    assert code == 0
    assert re.findall(r"^(\w+) \+ woman", out, re.MULTILINE) == ["king", "queen"]


def test_case_of_unknown_words(neighbors):
    assert neighbors("QUEEN").code == 2
    assert neighbors("QUEEN", "--case-insensitive").out.startswith("queen ")
    assert neighbors("pAris", "--case-insensitive").out.startswith("Paris ")
    assert neighbors("paris", "--case-insensitive").out.startswith("paris ")  # known words stay
    assert neighbors("king", "--minus", "MAN", "--plus", "WOMAN", "--case-insensitive").out.startswith("king + woman")
    code, _, err = neighbors("nosuchword", "--case-insensitive")
    assert (code, "'nosuchword' is not in the vocabulary" in err) == (2, True)


@pytest.mark.parametrize("query", [("lonely",), ("nosuchword", "--oov", "token")])
def test_zero_vector_has_no_neighbors(neighbors, query):
    code, out, err = neighbors(*query)
    assert (code, out, err) == (0, f"{query[0]}: the vector is zero, so it has no neighbors.\n\n", "")


def test_oov_has_the_same_values_in_all_commands(neighbors, run_command, tmp_path):
    (tmp_path / "pairs.txt").write_text("king queen 3\nman woman 2\nking nosuchword 1\n")
    for command in (
        ("neighbors", tmp_path / "vectors", "king"),
        ("evaluate", tmp_path / "vectors", "--similarity", tmp_path / "pairs.txt"),
        ("evaluate", tmp_path / "vectors", "--pos", "gum"),
    ):
        code, _, err = run_command(*command, "--oov", "zeros")
        assert (code, err) == (2, "bitcipher: `--oov` must be spelling or token, got 'zeros'.\n")
    code, out, _ = run_command(
        "evaluate", tmp_path / "vectors", "--similarity", tmp_path / "pairs.txt", "--oov", "token"
    )
    assert code == 0
    assert "nosuchword; these words have the vector of <oov>." in out


def test_names_of_emoji_are_words(run_command, tmp_path):
    CipherVectors([":cat:", "[b]"], np.eye(2, dtype=np.float32) + 0.1).save(tmp_path / "marked")
    assert run_command("neighbors", tmp_path / "marked", ":cat:").out.startswith(":cat:  cosine\n[b] ")

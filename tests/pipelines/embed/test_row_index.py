"""Explanations from an index of the weighted rows of all words."""

import numpy as np
import pytest
from builds import run_build
from test_context_vectors import EMBEDDINGS, embed

from bitcipher import BitcipherError, open_build
from bitcipher.explain.explainer import Explainer


@pytest.fixture(scope="module")
def build(corpus, tmp_path_factory):
    target = tmp_path_factory.mktemp("index") / "build"
    run_build([corpus], target)
    return target


def open_explainer(build, folder=None):
    opened = open_build(build, vectors=folder)
    return Explainer(opened.vectors, opened.counts_of_vectors, context_vectors=opened.context_vectors)


@pytest.mark.parametrize("options", EMBEDDINGS, ids=str)
def test_explanations_are_those_from_the_counts(build, tmp_path, monkeypatch, options):
    monkeypatch.setattr("bitcipher.rows.spectral_rows.PAIRS_AT_ONCE", 20_000)  # several batches of words
    folder = embed(build, tmp_path / "vectors", options)
    indexed, plain = open_explainer(build, folder), open_explainer(build, folder)
    assert not indexed.open_index(str(tmp_path / "index"))
    indexed.write_index(str(tmp_path / "index"))
    assert indexed.open_index(str(tmp_path / "index"))
    words = open_build(build, vectors=folder).vectors.index_to_key
    random = np.random.default_rng(4)
    pairs = [("the", "of"), ("the", "the"), ("<oov>", words[-1]), *random.choice(words, (20, 2)).tolist()]
    for word, other in pairs:
        assert indexed.explain(word, other, 100_000) == plain.explain(word, other, 100_000)


def test_index_of_other_vectors_is_replaced(build, tmp_path):
    index = tmp_path / "index"
    first = open_explainer(build)
    first.write_index(str(index))
    (index / "notes.txt").write_text("kept")
    other = open_explainer(build, embed(build, tmp_path / "vectors", {"vector_size": 10}))
    assert not other.open_index(str(index))
    other.write_index(str(index))
    assert other.open_index(str(index))
    assert not open_explainer(build).open_index(str(index))
    assert first.explain("the", "of") == open_explainer(build).explain("the", "of")
    assert len(list(index.glob("rows-*.arrow"))) == 1
    assert (index / "notes.txt").read_text() == "kept"


def test_damaged_index_is_not_used(build, tmp_path):
    explainer = open_explainer(build)
    for name in ("rows-*.arrow", "index.json"):
        explainer.write_index(str(tmp_path))
        assert explainer.open_index(str(tmp_path))
        (file,) = tmp_path.glob(name)
        content = bytearray(file.read_bytes())
        content[len(content) // 2] ^= 1
        file.write_bytes(content)
        assert not explainer.open_index(str(tmp_path))
        file.unlink()
        assert not explainer.open_index(str(tmp_path))


def test_index_needs_mode_spectral_and_a_local_folder(build, tmp_path):
    with pytest.raises(BitcipherError, match="mode spectral"):
        open_explainer(build, embed(build, tmp_path / "sums", {"mode": "sum", "bits": 20})).open_index(str(tmp_path))
    with pytest.raises(BitcipherError, match="local"):
        open_explainer(build).write_index("memory://index")
    opened = open_build(build)
    with pytest.raises(BitcipherError, match="bitcipher embed"):
        Explainer(opened.vectors, opened.counts_of_vectors).write_index(str(tmp_path))

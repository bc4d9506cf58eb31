"""The index of a large table: what it finds is compared exactly, and it finds nearly all."""

import numpy as np
import pytest

from bitcipher import BitcipherError, CipherVectors
from bitcipher.vectors import WordIndex


@pytest.fixture(scope="module")
def table() -> CipherVectors:
    """4,000 words around 100 centers, as words lie around topics; some are zero, and one is <oov>."""
    random = np.random.default_rng(8)
    centers = random.standard_normal((100, 32))
    rows = centers[random.integers(0, 100, 4000)] + 0.7 * random.standard_normal((4000, 32))
    rows[::400] = 0
    words = [f"w{row}" for row in range(3999)] + ["<oov>"]
    return CipherVectors(words, rows.astype(np.float32))


@pytest.fixture(scope="module")
def index(table) -> WordIndex:
    return WordIndex.build(table)


def test_nearly_all_neighbours_are_found_with_exact_cosines(table, index):
    found, all_of_them = 0, 0
    for word in table.index_to_key[1:3999:40]:
        exact = table.most_similar(word)
        nearest = table.most_similar(word, index=index)
        assert len(nearest) == 10
        assert nearest == [pair for pair in table.most_similar(word, topn=len(table)) if pair in nearest]
        found, all_of_them = found + len(set(exact) & set(nearest)), all_of_them + len(exact)
    assert found / all_of_them > 0.95


def test_zeros_oov_and_the_words_of_the_query_are_no_neighbours(table, index):
    assert len(index) == 4000 - 10 - 1
    zeros = {f"w{row}" for row in range(0, 4000, 400)}
    names = {word for word, _ in table.most_similar(["w1", "w2"], ["w3"], topn=200, index=index)}
    assert len(names) == 200
    assert not names & (zeros | {"<oov>", "w1", "w2", "w3"})
    assert table.most_similar("w0", index=index) == []


def test_more_neighbours_than_words(table, index):
    assert len(table.most_similar("w1", topn=10_000, index=index)) > 3_900


def test_an_index_is_saved_and_loaded(tmp_path, table, index):
    for uri in (tmp_path / "index", "memory://ann-index/index"):
        index.save(uri)
        again = WordIndex.load(uri, table)
        assert len(again) == len(index)
        assert table.most_similar("w7", index=again) == table.most_similar("w7", index=index)
    WordIndex.build(table).save(tmp_path / "second")
    assert (tmp_path / "second").read_bytes() == (tmp_path / "index").read_bytes()


def test_wrong_and_damaged_files_are_told(tmp_path, table, index):
    path = tmp_path / "index"
    with pytest.raises(BitcipherError, match="There is no file"):
        WordIndex.load(path, table)
    index.save(path)
    moved = CipherVectors(table.words, table.vectors[::-1])
    fewer = CipherVectors(table.words[:100], table.vectors[:100])
    narrower = CipherVectors(table.words, table.vectors[:, :16])
    for other in (moved, fewer, narrower):
        with pytest.raises(BitcipherError, match="index of another table"):
            WordIndex.load(path, other)
    whole = path.read_bytes()
    for content in (b"", b"abc" * 100, whole[:1000], whole[: len(whole) // 2]):
        path.write_bytes(content)
        with pytest.raises(BitcipherError, match="not an index, or it is damaged"):
            WordIndex.load(path, table)


def test_questions_that_an_index_cannot_answer(table, index):
    for settings in ({"topn": None}, {"restrict_vocab": 10}):
        with pytest.raises(BitcipherError, match="all words"):
            table.most_similar("w1", index=index, **settings)

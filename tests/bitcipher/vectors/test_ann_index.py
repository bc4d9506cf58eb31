"""Approximate neighbor search: high recall, and exact cosines of the neighbors that it finds."""

import numpy as np
import pytest

from bitcipher import BitcipherError, CipherVectors
from bitcipher.vectors.ann_index import WordIndex


@pytest.fixture(scope="module")
def table() -> CipherVectors:
    """4,000 words in 100 clusters; some have zero vectors, and one is <oov>."""
    random = np.random.default_rng(8)
    centers = random.standard_normal((100, 32))
    rows = centers[random.integers(0, 100, 4000)] + 0.7 * random.standard_normal((4000, 32))
    rows[::400] = 0
    words = [f"w{row}" for row in range(3999)] + ["<oov>"]
    return CipherVectors(words, rows.astype(np.float32))


@pytest.fixture(scope="module")
def index(table) -> WordIndex:
    return WordIndex.build(table)


def test_recall_is_high_and_cosines_are_exact(table, index):
    found, expected = 0, 0
    for word in table.index_to_key[1:3999:40]:
        exact = table.most_similar(word)
        nearest = table.most_similar(word, indexer=index)
        assert len(nearest) == 10
        assert nearest == [pair for pair in table.most_similar(word, topn=len(table)) if pair in nearest]
        found, expected = found + len(set(exact) & set(nearest)), expected + len(exact)
    assert found / expected > 0.95


def test_zero_vectors_oov_and_query_words_are_not_neighbors(table, index):
    assert len(index) == 4000 - 10 - 1
    zeros = {f"w{row}" for row in range(0, 4000, 400)}
    names = {word for word, _ in table.most_similar(["w1", "w2"], ["w3"], topn=200, indexer=index)}
    assert len(names) == 200
    assert not names & (zeros | {"<oov>", "w1", "w2", "w3"})
    assert table.most_similar("w0", indexer=index) == []


def test_topn_may_exceed_the_number_of_words(table, index):
    assert len(table.most_similar("w1", topn=10_000, indexer=index)) > 3_900


def test_saved_index_loads_with_the_same_neighbors(tmp_path, table, index):
    for uri in (tmp_path / "index", "memory://ann-index/index"):
        index.save(uri)
        again = WordIndex.load(uri, table)
        assert len(again) == len(index)
        assert table.most_similar("w7", indexer=again) == table.most_similar("w7", indexer=index)
    WordIndex.build(table).save(tmp_path / "second")
    assert (tmp_path / "second").read_bytes() == (tmp_path / "index").read_bytes()


def test_wrong_and_damaged_files_raise(tmp_path, table, index):
    path = tmp_path / "index"
    with pytest.raises(BitcipherError, match="no file"):
        WordIndex.load(path, table)
    index.save(path)
    moved = CipherVectors(table.words, table.vectors[::-1])
    fewer = CipherVectors(table.words[:100], table.vectors[:100])
    narrower = CipherVectors(table.words, table.vectors[:, :16])
    for other in (moved, fewer, narrower):
        with pytest.raises(BitcipherError, match="index of another table"):
            WordIndex.load(path, other)
    whole = path.read_bytes()
    without_digests = whole.partition(b"\n")[2]
    for content in (b"", b"abc" * 100, whole[:1000], whole[: len(whole) // 2], whole[:-1] + b"x", without_digests):
        path.write_bytes(content)
        with pytest.raises(BitcipherError, match="not an index, or it is damaged"):
            WordIndex.load(path, table)


def test_index_of_another_table_is_refused(tmp_path, table, index):
    changed = CipherVectors(table.words, table.vectors)
    index.save(tmp_path / "index")
    WordIndex.load(tmp_path / "index", changed)
    assert changed.most_similar("w1", indexer=index) == table.most_similar("w1", indexer=index)
    one_value = table.vectors.copy()
    one_value[1, 0] += 1
    renamed = CipherVectors(["new", *table.index_to_key[1:]], table.vectors)
    changed.add_vectors(["w1"], [one_value[1]], replace=True)
    for other in (CipherVectors(table.words, one_value), renamed, changed):
        with pytest.raises(BitcipherError, match="index of another table"):
            other.most_similar("w1", indexer=index)
        with pytest.raises(BitcipherError, match="index of another table"):
            WordIndex.load(tmp_path / "index", other)


def test_index_supports_only_a_plain_search(table, index):
    for settings in ({"topn": None}, {"restrict_vocab": 10}):
        with pytest.raises(BitcipherError, match="`indexer` needs `topn`"):
            table.most_similar("w1", indexer=index, **settings)

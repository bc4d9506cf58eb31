"""Matrices of real builds: several documents and segments, updates, Arabic words, and mistakes."""

from collections import Counter

import numpy as np
import pytest
from builds import OPTIONS, run_build, run_update, write_lines

import bitcipher
from bitcipher import BitcipherError, UnknownWordError
from bitcipher.cooccurrence import ppmi_matrix
from bitcipher.vectors.cipher_vectors import CipherVectors

ENGLISH = ["the cat saw the dog and the cat ran", "a dog saw a cat", "the dog"]
ARABIC = ["رأى القط الكلب ثم رأى الكلب القط", "القط the cat الكلب"]
WINDOW = 3


@pytest.fixture(scope="module")
def uri(tmp_path_factory):
    """A build with two versions. The second adds Arabic text in a segment of its own."""
    folder = tmp_path_factory.mktemp("counts")
    english = write_lines(folder / "english.jsonl", ENGLISH)
    run_build([english], folder / "build", OPTIONS.copy_with(window=WINDOW, min_count=2))
    manifest, _ = run_update(folder / "build", [english, write_lines(folder / "arabic.jsonl", ARABIC)])
    assert len(manifest["segments"]) == 2
    return str(folder / "build")


def count(texts: list[str], known: set[str], offsets: list[int]) -> Counter:
    """Return {(word, context): n} for contexts at the offsets. Unknown words are `<oov>`."""
    pairs: Counter = Counter()
    for text in texts:
        tokens = [word if word in known else "<oov>" for word in text.split()]
        for i, word in enumerate(tokens):
            pairs.update((word, tokens[i + offset]) for offset in offsets if 0 <= i + offset < len(tokens))
    return pairs


def by_word(matrix, words: list[str]) -> Counter:
    rows, columns = matrix.nonzero()
    return Counter({(words[i], words[j]): int(matrix[i, j]) for i, j in zip(rows, columns, strict=True)})


@pytest.mark.parametrize("offset", [None, 1, 2, 3, -1, -3])
@pytest.mark.parametrize(("version", "texts"), [(1, ENGLISH), (2, ENGLISH + ARABIC), (None, ENGLISH + ARABIC)])
def test_matrix_counts_the_pairs_of_all_documents(uri, offset, version, texts):
    build = bitcipher.open_build(uri, version)
    words = build.vocabulary["word"].to_pylist()
    assert ("القط" in words) == (version != 1)
    offsets = [o for o in range(-WINDOW, WINDOW + 1) if o] if offset is None else [offset]
    assert by_word(build.cooccurrence(offset), words) == count(texts, set(words), offsets)


def test_words_choose_rows_and_columns_in_their_order(uri):
    build = bitcipher.open_build(uri)
    words = ["القط", "cat", "<oov>", "the"]
    known = set(build.vocabulary["word"].to_pylist())
    pairs = count(ENGLISH + ARABIC, known, [1])
    expected = [[pairs[left, right] for right in words] for left in words]
    assert build.cooccurrence(1, words).toarray().tolist() == expected
    assert expected[0][3] == 1  # "القط the"
    assert build.cooccurrence(1, iter(words)).toarray().tolist() == expected
    assert build.cooccurrence(1, "the").shape == (1, 1)
    assert build.cooccurrence(1, []).shape == (0, 0)


def test_vocabulary_is_the_table_of_words_in_order_of_rank(uri):
    build = bitcipher.open_build(uri)
    table = build.vocabulary
    assert table.column_names == ["word", "count", "passages"]
    vectors = CipherVectors.load(uri)
    assert table["word"].to_pylist() == vectors.index_to_key
    occurrences = Counter(" ".join(ENGLISH + ARABIC).split())
    rows = {row["word"]: row for row in table.to_pylist()}
    assert rows["the"] == {"word": "the", "count": occurrences["the"], "passages": 3}
    assert rows["القط"]["count"] == 3
    assert (build.version, build.window, build.summed) == (2, WINDOW, False)
    assert repr(build) == f"Build({uri!r}, version=2)"


def test_weights_do_not_depend_on_the_size_of_blocks(uri, monkeypatch):
    whole = bitcipher.open_build(uri).cooccurrence(weighting="ppmi")
    assert whole.nnz > 10
    monkeypatch.setattr(ppmi_matrix, "BLOCK_ENTRIES", 3)
    np.testing.assert_array_equal(bitcipher.open_build(uri).cooccurrence(weighting="ppmi").toarray(), whole.toarray())


def test_summed_counts_have_only_the_sum(tmp_path):
    source = write_lines(tmp_path / "english.jsonl", ENGLISH)
    options = OPTIONS.copy_with(window=2, min_count=1, summed=True, context="window")
    run_build([source], tmp_path / "build", options)
    build = bitcipher.open_build(tmp_path / "build")
    words = build.vocabulary["word"].to_pylist()
    assert by_word(build.cooccurrence(), words) == count(ENGLISH, set(words), [-2, -1, 1, 2])
    with pytest.raises(BitcipherError, match="have no offsets"):
        build.cooccurrence(1)


def test_mistakes_are_explained(uri, tmp_path):
    build = bitcipher.open_build(uri)
    for offset in (0, 4, -4, 1.0):
        with pytest.raises(BitcipherError, match=f"between 1 and 3, got {offset}"):
            build.cooccurrence(offset)
    with pytest.raises(UnknownWordError, match=r"'Cat' is not in the vocabulary.*'cat'.*Use '<oov>'"):
        build.cooccurrence(1, ["the", "Cat"])
    with pytest.raises(BitcipherError, match="'the' twice"):
        build.cooccurrence(1, ["the", "cat", "the"])
    with pytest.raises(BitcipherError, match="strings, got 3"):
        build.cooccurrence(1, [3])
    with pytest.raises(BitcipherError, match="'counts' or 'ppmi', got 'pmi'"):
        build.cooccurrence(weighting="pmi")
    with pytest.raises(BitcipherError, match="has no version 3"):
        bitcipher.open_build(uri, 3)
    with pytest.raises(BitcipherError, match="is not a build"):
        bitcipher.open_build(tmp_path)
    CipherVectors.load(uri).save(tmp_path / "vectors")
    with pytest.raises(BitcipherError, match="is a folder of vectors without counts"):
        bitcipher.open_build(tmp_path / "vectors")

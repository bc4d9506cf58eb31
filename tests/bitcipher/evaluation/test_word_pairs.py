from itertools import combinations

import numpy as np
import pytest

from bitcipher.errors import BitcipherError
from bitcipher.evaluation.evaluation_sets import ScoredPair, list_similarity_files, read_pairs
from bitcipher.vectors.cipher_vectors import CipherVectors

WORDS = ["the", "The", "cat", "Dog", "dog", "king", "Straße", "paris", "zero"]


@pytest.fixture
def vectors():
    rows = np.random.default_rng(1).normal(size=(len(WORDS), 6)).astype(np.float32)
    rows[WORDS.index("zero")] = 0
    return CipherVectors(WORDS, rows)


def pairs_file(path, separator="\t", ending="\n"):
    random = np.random.default_rng(2)
    words = [word for word in WORDS if word != "zero"]
    # Without pairs of equal words, whose cosine gensim rounds below 1 for some words.
    pairs = [pair for pair in combinations(words, 2) if pair[0].upper() != pair[1].upper()]
    lines = [separator.join([*pair, f"{random.uniform(0, 10):.3f}"]) for pair in random.permutation(pairs)]
    lines += [separator.join(["cat", "unicorn", "5"]), "# a comment", separator.join(["CAT", "DOG", "7.5"])]
    path.write_text(ending.join(lines) + ending)
    return path


@pytest.mark.parametrize("case_insensitive", [True, False])
@pytest.mark.parametrize("dummy4unknown", [True, False])
@pytest.mark.parametrize("restrict_vocab", [300_000, 5])
def test_correlations_match_gensim(tmp_path, vectors, case_insensitive, dummy4unknown, restrict_vocab):
    path = pairs_file(tmp_path / "pairs.txt")
    options = {
        "restrict_vocab": restrict_vocab,
        "case_insensitive": case_insensitive,
        "dummy4unknown": dummy4unknown,
    }
    found = vectors.evaluate_word_pairs(path, **options)
    pearson, spearman, oov = vectors.to_gensim().evaluate_word_pairs(str(path), **options)
    assert found.spearman == pytest.approx(spearman.statistic, abs=1e-6)
    assert found.pearson == pytest.approx(pearson.statistic, abs=1e-6)
    assert 100 * (1 - found.coverage) == pytest.approx(oov)
    assert found.pairs == 28
    assert "unicorn" in found.unknown


def test_unknown_words_may_have_the_vector_of_oov(tmp_path, vectors):
    with_oov = CipherVectors([*WORDS, "<oov>"], np.vstack([vectors.vectors, np.arange(6, dtype=np.float32)]))
    scored = [("cat", "king", 3.0), ("cat", "unicorn", 5.0), ("yeti", "paris", 1.0), ("yeti", "unicorn", 9.0)]
    path = tmp_path / "pairs.txt"
    path.write_text("".join(f"{first}\t{second}\t{score}\n" for first, second, score in scored))
    found = with_oov.evaluate_word_pairs(path, oov=True)
    cosines = [with_oov.similarity(first, second, oov=True) for first, second, _ in scored]
    assert found.pearson == pytest.approx(np.corrcoef(cosines, [score for *_, score in scored])[0, 1], abs=1e-6)
    assert (found.covered, found.unknown) == (1, ("unicorn", "yeti"))
    with pytest.raises(BitcipherError, match="has no <oov>"):
        vectors.evaluate_word_pairs(path, oov=True)


@pytest.mark.parametrize(("separator", "ending"), [(" ", "\n"), ("\t", "\r\n"), ("  ", "\n")])
def test_separators_and_line_endings_do_not_matter(tmp_path, vectors, separator, ending):
    one = pairs_file(tmp_path / "one.txt")
    other = pairs_file(tmp_path / "other.txt", separator, ending)
    assert vectors.evaluate_word_pairs(one) == vectors.evaluate_word_pairs(other)


def test_read_pairs_with_header_and_delimiter(tmp_path):
    path = tmp_path / "pairs.csv"
    path.write_text("Word 1,Word 2,Human (mean)\nlove,sex,6.77\nice cream,snow,3\n")
    assert read_pairs(path, ",") == [ScoredPair("love", "sex", 6.77), ScoredPair("ice cream", "snow", 3.0)]


def test_zero_vectors_have_similarity_0(tmp_path, vectors):
    path = tmp_path / "pairs.txt"
    path.write_text("zero\tcat\t1\nzero\tdog\t2\n")
    assert vectors.evaluate_word_pairs(path).spearman == 0.0


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("cat\tdog\n", "Line 1 .* has 2 columns"),
        ("cat\tdog\t1\ncat\tking\tmuch\n", "line 2 .* must be a number, got 'much'"),
        ("cat\tdog\t1\ncat\tking\tinf\n", "line 2 .* must be finite, got 'inf'"),
        ("cat\tdog\tnan\ncat\tking\t1\n", "line 1 .* must be finite, got 'nan'"),
        ("", "no word pairs"),
        ("word1\tword2\tscore\n", "no word pairs"),
        (b"caf\xe9 tea 1", "UTF-8"),
        ("katze\thund\t3\nkatze\tmaus\t4\n", "covers 0 of the 2 pairs"),
    ],
)
def test_invalid_file_raises(tmp_path, vectors, content, message):
    path = tmp_path / "pairs.txt"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(BitcipherError, match=message):
        vectors.evaluate_word_pairs(path)


def test_missing_file_raises(tmp_path, vectors):
    with pytest.raises(BitcipherError, match=r"absent\.txt"):
        vectors.evaluate_word_pairs(tmp_path / "absent.txt")


def test_folder_lists_its_pair_files(tmp_path):
    for name in ("b.txt", "a.txt"):
        pairs_file(tmp_path / name)
    (tmp_path / "questions.txt").write_text(": capitals\na b c d\n")
    found = list_similarity_files(str(tmp_path))
    assert [uri.rpartition("/")[2] for uri in found] == ["a.txt", "b.txt"]
    assert list_similarity_files(found[0]) == found[:1]

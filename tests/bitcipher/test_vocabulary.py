import io

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from bitcipher import OOV, BitcipherError, Vocabulary


def choose(counts, passages=None, total_passages=100, **choice):
    passages = passages or dict.fromkeys(counts, 1)
    return Vocabulary.from_counts(
        list(counts), list(counts.values()), [passages[word] for word in counts], total_passages, **choice
    )


def as_rows(vocabulary):
    columns = vocabulary.words.to_pylist(), vocabulary.counts.tolist(), vocabulary.passages.tolist()
    return list(zip(*columns, strict=True))


def test_words_are_ranked_by_count_then_by_bytes():
    # In UTF-16 order 😀 would precede ﬀ, and in order of appearance zoo would precede ant.
    counts = {"zoo": 2, "😀": 2, "ant": 2, "ﬀ": 2, "é": 2, "Zoo": 2, "rare": 1, "frequent": 5, "antler": 2}
    assert choose(counts).words.to_pylist() == [
        *("frequent", "Zoo", "ant", "antler", "zoo", "é", "ﬀ", "😀", "rare"),
        OOV,
    ]


def test_ranks_do_not_depend_on_the_order_of_the_words():
    counts = {chr(ord("a") + number): number % 4 + 1 for number in range(26)}
    passages = {word: count for word, count in counts.items()}
    words = sorted(counts)
    orders = [np.random.default_rng(seed).permutation(words) for seed in range(5)]
    vocabularies = [choose({word: counts[word] for word in order}, passages, max_vocab_size=9) for order in orders]
    assert all(as_rows(vocabulary) == as_rows(vocabularies[0]) for vocabulary in vocabularies)


def test_words_outside_the_vocabulary_share_a_ranked_entry():
    vocabulary = choose({"a": 9, "b": 5, "c": 4, "d": 3}, {"a": 7, "b": 5, "c": 2, "d": 1}, 20, min_count=5)
    assert as_rows(vocabulary) == [("a", 9, 7), (OOV, 7, 3), ("b", 5, 5)]
    assert vocabulary.oov_rank == 1
    assert len(vocabulary) == 3
    assert vocabulary.total_count == 21
    assert vocabulary.total_passages == 20


def test_oov_is_ranked_by_bytes_among_equal_counts():
    assert choose({"!": 3, "a": 3, "b": 3}, word_list=["!", "a"]).words.to_pylist() == ["!", OOV, "a"]


def test_passages_of_oov_are_at_most_all_passages():
    vocabulary = choose({"a": 9, "b": 4, "c": 4}, {"a": 3, "b": 3, "c": 3}, 5, min_count=9)
    assert as_rows(vocabulary) == [("a", 9, 3), (OOV, 8, 5)]


def test_oov_has_count_0_if_all_words_are_in_the_vocabulary():
    assert as_rows(choose({"a": 2})) == [("a", 2, 1), (OOV, 0, 0)]


@pytest.mark.parametrize(
    "choice", [{}, {"max_vocab_size": 2}, {"word_list": ["a", "b"]}, {"word_list": ["a", OOV, "b"]}]
)
def test_token_spelled_oov_counts_as_oov(choice):
    vocabulary = choose({"a": 9, OOV: 8, "b": 1}, {"a": 3, OOV: 2, "b": 1}, **choice)
    assert as_rows(vocabulary) == [("a", 9, 3), (OOV, 8, 2), ("b", 1, 1)]


def test_min_count_is_inclusive():
    vocabulary = choose({"a": 3, "b": 2, "c": 1}, min_count=2)
    assert as_rows(vocabulary) == [("a", 3, 1), ("b", 2, 1), (OOV, 1, 1)]


def test_max_vocab_size_keeps_the_first_ranks_besides_oov():
    vocabulary = choose({"d": 2, "c": 2, "b": 2, "a": 2, "e": 3}, max_vocab_size=3)
    assert as_rows(vocabulary) == [(OOV, 4, 2), ("e", 3, 1), ("a", 2, 1), ("b", 2, 1)]


def test_max_vocab_size_may_exceed_the_corpus():
    assert len(choose({"a": 1, "b": 1}, max_vocab_size=10)) == 3


def test_min_count_and_max_vocab_size_combine():
    assert choose({"a": 5, "b": 4, "c": 3, "d": 1}, min_count=3, max_vocab_size=2).words.to_pylist() == ["a", OOV, "b"]


def test_word_list_includes_words_that_never_occur():
    vocabulary = choose({"b": 4, "a": 4, "c": 7}, word_list=["unseen", "b", "unseen", "Unseen"])
    assert as_rows(vocabulary) == [(OOV, 11, 2), ("b", 4, 1), ("Unseen", 0, 0), ("unseen", 0, 0)]


def test_word_list_may_have_no_occurrence():
    assert as_rows(choose({"a": 3}, word_list=["x"])) == [(OOV, 3, 1), ("x", 0, 0)]


def test_arrow_arrays_and_iterables_are_equivalent():
    words, counts, passages = ["b", "a", "é"], [3, 3, 1], [1, 2, 1]
    from_arrow = Vocabulary.from_counts(pa.array(words, pa.large_string()), counts, passages, 4)
    assert as_rows(from_arrow) == as_rows(Vocabulary.from_counts(iter(words), counts, passages, 4))


def test_large_counts_are_exact():
    vocabulary = choose({"a": 2**51 + 1, "b": 2**51 - 1, "c": 2**51}, min_count=2**51)
    assert as_rows(vocabulary) == [("a", 2**51 + 1, 1), ("c", 2**51, 1), (OOV, 2**51 - 1, 1)]
    assert vocabulary.total_count == 3 * 2**51


def test_ranks_of_words_and_of_unknown_words():
    vocabulary = choose({"a": 9, "b": 5, "é": 5, "c": 1}, min_count=5)
    assert vocabulary.words.to_pylist() == ["a", "b", "é", OOV]
    ranks = vocabulary.ranks(pa.array(["é", "unseen", "a", "c", OOV, "", "b"], pa.large_string()))
    assert ranks.dtype == np.int32
    assert ranks.tolist() == [2, 3, 0, 3, 3, 3, 1]


def test_row_order_is_the_order_of_bytes():
    vocabulary = choose({"😀": 9, "b": 5, "ﬀ": 5, "B": 1}, min_count=5)
    assert vocabulary.words.to_pylist() == ["😀", "b", "ﬀ", OOV]
    assert vocabulary.row_order().tolist() == [3, 1, 2, 0]


def test_parquet_round_trip():
    vocabulary = choose({"a": 2**40, "é": 5, "😀": 5, "c": 1}, {"a": 12, "é": 3, "😀": 2, "c": 1}, 34, min_count=5)
    table = vocabulary.to_table()
    assert table.column_names == ["word", "count", "passages"]
    stream = io.BytesIO()
    pq.write_table(table, stream)
    again = Vocabulary.from_table(pq.read_table(stream))
    assert as_rows(again) == as_rows(vocabulary)
    assert again.total_passages == 34
    assert again.oov_rank == vocabulary.oov_rank
    assert again.counts.dtype == again.passages.dtype == np.int64


@pytest.mark.parametrize(
    ("counts", "choice", "message"),
    [
        ({}, {}, "The sources contain no words"),
        ({"a": 4, "b": 1_234}, {"min_count": 5_000}, "largest count of 2 words is 1,234"),
        ({OOV: 3}, {}, "No word reaches the minimum count"),
        ({"a": 1}, {"word_list": []}, "The word list contains no words"),
        ({"a": 1}, {"word_list": [OOV]}, "The word list contains no words"),
    ],
)
def test_empty_vocabulary_raises(counts, choice, message):
    with pytest.raises(BitcipherError, match=message):
        choose(counts, **choice)

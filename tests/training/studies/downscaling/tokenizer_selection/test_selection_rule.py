from itertools import permutations

import pytest

from bitcipher.errors import BitcipherError
from training.studies.downscaling.tokenizer_selection.published_scores import candidate_sizes, published_rows
from training.studies.downscaling.tokenizer_selection.selection_rule import TokenizerScores, check_references, choose


def scores(kind, size, split_ratio, matching_score):
    return TokenizerScores(kind=kind, size=size, split_ratio=split_ratio, matching_score=matching_score)


def test_rule_gives_choice_of_paper():
    choice = choose(published_rows())
    assert (choice.best.kind, choice.best.size) == ("bpe", 19_000)
    # WordPiece with 16,000 and 17,000 tokens has equal ratios, so the smaller size is chosen.
    assert [(row.kind, row.size) for row in choice.by_kind] == [
        ("bpe", 19_000),
        ("wordpiece", 16_000),
        ("unigram", 10_000),
    ]


def test_smaller_of_equally_close_sizes_is_chosen():
    rows = [scores("bpe", size, ratio, 0.1) for size, ratio in ((100, 1.5), (200, 1.25), (300, 0.75), (400, 0.5))]
    for order in permutations([*rows, scores("bpe", None, 1.0, 0.9)]):
        assert choose(order).best.size == 200


def test_first_kind_of_equal_scores_is_chosen():
    rows = [
        scores("unigram", 100, 1.1, 0.2),
        scores("bpe", 50, 1.0, 0.2),
        scores("wordpiece", 70, 1.0, 0.1),
    ]
    assert choose(rows).best.kind == "unigram"
    assert choose(rows[::-1]).best.kind == "bpe"


def test_reference_is_never_chosen():
    rows = [scores("bpe", None, 1.0, 0.9), scores("bpe", 100, 2.0, 0.0)]
    assert choose(rows).best.size == 100


def test_invalid_candidates_and_references_raise():
    with pytest.raises(BitcipherError, match="no tokenizer to choose"):
        choose([scores("bpe", None, 1.0, 0.9)])
    with pytest.raises(BitcipherError, match=r"give --reference bpe=tokenizer.json, or a single --size"):
        choose([scores("bpe", 100, 1.0, 0.9), scores("bpe", 200, 1.0, 0.9)])
    check_references({"bpe": 1, "unigram": 2}, {"unigram": "t5.json"})
    with pytest.raises(
        BitcipherError, match=r"There is a reference of kind 'unigram', but the candidates are of kind bpe; add --kind"
    ):
        check_references({"bpe": 1}, {"unigram": "t5.json"})


def test_candidate_sizes_default_to_paper():
    paper = {"bpe": (18_000, 19_000, 20_000), "wordpiece": (16_000, 17_000, 18_000), "unigram": (9_000, 10_000, 11_000)}
    assert candidate_sizes() == paper
    assert candidate_sizes(["unigram"]) == {"unigram": paper["unigram"]}
    assert candidate_sizes(["unigram", "bpe", "unigram"], [9, 7, 9]) == {"unigram": (7, 9), "bpe": (7, 9)}
    assert list(candidate_sizes([], [300])) == ["bpe", "wordpiece", "unigram"]


@pytest.mark.parametrize(
    ("kinds", "sizes", "sentence"),
    [
        (["word"], [300], "`kind` must be bpe, wordpiece or unigram"),
        (["bpe"], [300, 0], "`vocab_size` must be at least 1, got 0"),
        ([], [-1], "`vocab_size` must be at least 1, got -1"),
    ],
)
def test_invalid_candidate_sizes_raise(kinds, sizes, sentence):
    with pytest.raises(BitcipherError, match=sentence):
        candidate_sizes(kinds, sizes)

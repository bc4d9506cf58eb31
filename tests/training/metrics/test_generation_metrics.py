"""Metrics of generated texts against plain references."""

import math
from collections import Counter

import pytest

from training.metrics.generation import score_texts


def plain_bleu(generated, references):
    """Return BLEU-4 of texts of words with one reference each, without smoothing."""
    matches, totals = [0] * 4, [0] * 4
    for text, (reference,) in zip(generated, references, strict=True):
        words, correct = text.split(), reference.split()
        for n in range(1, 5):
            found, expected = (
                Counter(tuple(side[at : at + n]) for at in range(len(side) - n + 1)) for side in (words, correct)
            )
            matches[n - 1] += (found & expected).total()
            totals[n - 1] += found.total()
    n_words, n_correct = (sum(len(t.split()) for t in side) for side in (generated, [r for (r,) in references]))
    precision = sum(math.log(m / t) for m, t in zip(matches, totals, strict=True)) / 4
    return 100 * math.exp(precision + min(0, 1 - n_correct / n_words))


def test_bleu_is_that_of_its_definition():
    generated = ["the cat sat on the mat", "a dog and a cat see two birds", "nobody hears us"]
    references = [["the cat sat on a mat"], ["a dog and a cat hear two birds and us"], ["nobody hears us"]]
    result = score_texts(generated, references)
    assert result.scores["bleu"] == pytest.approx(plain_bleu(generated, references))
    assert result.scores["exact_match"] == pytest.approx(100 / 3)
    assert 0 < result.scores["chrf"] < 100
    assert result.signatures["bleu"].startswith("nrefs:1|")
    assert "nc:6" in result.signatures["chrf"]


def test_perfect_and_wrong_texts():
    references = [["ein Hund sieht zwei Katzen"], ["zwei Katzen hören einen Vogel"]]
    perfect = score_texts([" ein  Hund sieht zwei Katzen", references[1][0]], references)
    assert perfect.scores == {name: pytest.approx(100) for name in ("exact_match", "bleu", "chrf")}
    wrong = score_texts(["", "qqq"], references)
    assert wrong.scores == {"exact_match": 0, "bleu": pytest.approx(0, abs=1), "chrf": pytest.approx(0, abs=1)}


def test_any_reference_is_correct():
    generated = ["two cats see birds now", "one dog hears two cats"]
    references = [["none of these", "two cats see birds now", "or these"], ["one dog hears two cats"]]
    assert score_texts(generated, references).scores["exact_match"] == 100
    assert score_texts(generated, references).scores["bleu"] == pytest.approx(100)
    assert score_texts(generated, [references[0][:1], references[1]]).scores["exact_match"] == 50


def test_tokenized_texts_give_no_warning(caplog):
    score_texts(["a dog ."] * 200, [["a cat ."]] * 200)
    assert caplog.records == []

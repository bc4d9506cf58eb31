"""The nearest-neighbor baseline against a plain reference."""

import math
from collections import Counter
from itertools import pairwise

import numpy as np
from tiny_pairs import tiny_pairs

from training.data.text_pairs import TextPair
from training.evaluation.text_pairs import baselines
from training.evaluation.text_pairs.baselines import nearest_targets

PAIRS = [TextPair(*pair) for pair in tiny_pairs()]


def terms(text):
    words = text.split()
    return Counter([*words, *pairwise(words)])


def plain_nearest(sources, train):
    """Return the target of the first most similar source, with scikit-learn's smoothed inverse document frequencies."""
    documents = [terms(pair.source) for pair in train]
    frequency = Counter(term for document in documents for term in document)
    weight = {term: math.log((1 + len(train)) / (1 + number)) + 1 for term, number in frequency.items()}

    def vector(document):
        values = {term: number * weight[term] for term, number in document.items() if term in weight}
        norm = math.sqrt(sum(value * value for value in values.values())) or 1
        return {term: value / norm for term, value in values.items()}

    trained = [vector(document) for document in documents]
    targets = []
    for source in sources:
        query = vector(terms(source))
        similarities = [sum(query.get(term, 0) * value for term, value in each.items()) for each in trained]
        targets.append(train[int(np.argmax(np.round(similarities, 9)))].target)
    return targets


def test_targets_are_those_of_the_most_similar_sources(monkeypatch):
    random = np.random.default_rng(2)
    order = random.permutation(len(PAIRS))
    train, test = [PAIRS[n] for n in order[:150]], [PAIRS[n].source for n in order[150:]]
    expected = plain_nearest(test, train)
    assert nearest_targets(test, train) == expected
    monkeypatch.setattr(baselines, "_MAX_SIMILARITIES", 7 * len(train))  # in parts
    assert nearest_targets(test, train) == expected


def test_known_and_unknown_sources():
    train = [TextPair("The dog . sees", "a"), TextPair("x y", "b"), TextPair("y x", "c"), TextPair("the dog", "d")]
    assert nearest_targets(["y x", "x y", "the DOG", "something else", "."], train) == ["c", "b", "d", "a", "a"]

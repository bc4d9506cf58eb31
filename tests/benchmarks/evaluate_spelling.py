"""Evaluate vectors that know how words are spelled on all word pairs, and print scores as JSON.

evaluate_spelling.py REQUEST     REQUEST is the JSON object that `compare_spelling.py` passes
"""

import json
import re
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from fasttext_model import FastTextModel
from scipy import stats

from bitcipher.evaluation.evaluation_sets import ScoredPair, read_pairs
from bitcipher.vectors.cipher_vectors import CipherVectors

RESAMPLES = 1000  # samples of the pairs with replacement
Spell = Callable[[Sequence[str]], np.ndarray]
"""Returns vectors of words that the vocabulary lacks, (n, d), of length 1 or 0."""


def load(method: str, uri: str) -> tuple[CipherVectors, Spell]:
    """Return the table of vectors, and a function for unknown words."""
    if method == "fasttext":
        return FastTextModel.read(str(Path(uri).with_suffix(".bin")))
    table = CipherVectors.load(uri)
    return table, table.spelling_for("any").predict


def add_unknown(table: CipherVectors, spell: Spell, words: set[str]) -> CipherVectors:
    """Return the table with rows for unknown words and phrases. The vector of a phrase is the mean of its words."""
    unknown = sorted(words - set(table.index_to_key))
    parts = {word: re.split("[ _]", word) for word in unknown}
    new = sorted({part for each in parts.values() for part in each} - set(table.index_to_key))
    spelled = dict(zip(new, spell(new), strict=True))
    rows = [sum(spelled[p] if p in spelled else table.get_vector(p, norm=True) for p in parts[w]) for w in unknown]
    return CipherVectors([*table.index_to_key, *unknown], np.vstack([np.asarray(table.vectors), np.array(rows)]))


def interval_of_difference(scores: np.ndarray, first: np.ndarray, second: np.ndarray) -> tuple[float, float]:
    """Return the 95 % interval of the difference of two correlations with the same scores, over samples of the pairs.

    Args:
        scores: human scores of P pairs, (P,).
        first: cosines of the pairs, (P,).
        second: other cosines of the pairs, (P,).
    """

    def difference(*sample: np.ndarray) -> float:
        human, one, other = sample
        return 100 * (stats.spearmanr(human, one).statistic - stats.spearmanr(human, other).statistic)

    settings = {"paired": True, "vectorized": False, "n_resamples": RESAMPLES, "method": "percentile"}
    result = stats.bootstrap((scores, first, second), difference, **settings, rng=np.random.default_rng(0))
    return tuple(result.confidence_interval)


def cosines(table: CipherVectors, pairs: Sequence[ScoredPair]) -> np.ndarray:
    """Return the cosines of pairs, which the table contains in lower case."""
    sides = [[table.get_vector(pair[side].lower(), norm=True) for pair in pairs] for side in (0, 1)]
    return np.einsum("pd,pd->p", *np.array(sides, np.float64))


def main(request: dict) -> None:
    """Read, evaluate and print."""
    scores = []
    pairs = {file: read_pairs(file) for file in request["similarity"]}
    words = {word.lower() for each in pairs.values() for pair in each for word in pair[:2]}
    compared = {file: [] for file in pairs}
    for given in request["vectors"]:
        table, spell = load(given["method"], given["uri"])
        every = add_unknown(table, spell, words)
        for file, each in pairs.items():
            compared[file].append(cosines(every, each))
        similarity = {Path(f).stem: 100 * every.evaluate_word_pairs(f, restrict_vocab=None).spearman for f in pairs}
        covered = {Path(f).stem: 100 * table.evaluate_word_pairs(f, restrict_vocab=None).coverage for f in pairs}
        questions = request["analogies"]
        analogies = {Path(f).stem: 100 * table.evaluate_word_analogies(f).accuracy for f in questions}
        scores.append({**given, "similarity": similarity, "covered": covered, "analogies": analogies})
    human = {file: np.array([pair[2] for pair in each]) for file, each in pairs.items()}
    intervals = {Path(file).stem: interval_of_difference(human[file], *compared[file]) for file in pairs}
    print(json.dumps({"vectors": scores, "intervals": intervals}, indent=1))


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))

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

from bitcipher.evaluation.evaluation_sets import read_pairs
from bitcipher.vectors import CipherVectors

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


def main(request: dict) -> None:
    """Read, evaluate and print."""
    scores = []
    for given in request["vectors"]:
        table, spell = load(given["method"], given["uri"])
        pairs = {file: read_pairs(file) for file in request["similarity"]}
        words = {word.lower() for each in pairs.values() for pair in each for word in pair[:2]}
        every = add_unknown(table, spell, words)
        similarity = {Path(f).stem: 100 * every.evaluate_word_pairs(f, restrict_vocab=None).spearman for f in pairs}
        covered = {Path(f).stem: 100 * table.evaluate_word_pairs(f, restrict_vocab=None).coverage for f in pairs}
        questions = request["analogies"]
        analogies = {Path(f).stem: 100 * table.evaluate_word_analogies(f).accuracy for f in questions}
        scores.append({**given, "similarity": similarity, "covered": covered, "analogies": analogies})
    print(json.dumps(scores, indent=1))


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))

"""Evaluate vectors of raw and of cleaned text on the words that all of them have, and print scores as JSON.

evaluate_cleaning.py POS SIMILARITY SEED BUILD...
"""

import json
import sys
from statistics import mean

from evaluate_vectors import restrict_to_shared

from bitcipher.errors import BitcipherError
from bitcipher.evaluation.evaluation_sets import list_similarity_files
from bitcipher.vectors.cipher_vectors import CipherVectors
from training.evaluation.probes.probe_scores import probe
from training.evaluation.probes.tasks import read_task

# Minimum number of pairs of a set whose words all vectors have.
MIN_PAIRS = 30


def main(pos: str, similarity: str, seed: str, builds: list[str]) -> None:
    """Read, evaluate and print: one object per build, with scores in percent."""
    tables = [CipherVectors.load(build) for build in builds]
    shared = restrict_to_shared(tables)
    task = read_task("pos", pos)
    files = list_similarity_files(similarity)
    scores = []
    for table, restricted in zip(tables, shared, strict=True):
        result = probe(restricted, task, [int(seed)])
        scores.append(
            {
                "vocabulary": len(table),
                "shared": len(restricted),
                "pos": 100 * result.mean("accuracy"),
                "similarity": 100 * mean(found for file in files for found in _spearman(restricted, file)),
            }
        )
    print(json.dumps(scores))


def _spearman(table: CipherVectors, file: str) -> list[float]:
    """Return Spearman's correlation, or an empty list if too few pairs have vectors."""
    try:
        result = table.evaluate_word_pairs(file)
    except BitcipherError:
        return []
    return [result.spearman] if result.covered >= MIN_PAIRS else []


if __name__ == "__main__":
    main(*sys.argv[1:4], sys.argv[4:])

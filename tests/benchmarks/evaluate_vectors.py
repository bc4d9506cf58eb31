"""Evaluate vectors on the words that all of them have, and print scores as JSON.

evaluate_vectors.py REQUEST     REQUEST is the JSON object that `compare_quality.py` and `compare_pretrained.py` pass
"""

import json
import sys

import numpy as np

from bitcipher.evaluation.evaluation_sets import list_similarity_files
from bitcipher.vectors.cipher_vectors import CipherVectors
from bitcipher.vocabulary import OOV
from training.evaluation.probes.probe_scores import ProbeResult, probe
from training.evaluation.probes.tasks import read_task


def restrict_to_shared(tables: list[CipherVectors]) -> list[CipherVectors]:
    """Return the tables restricted to their common words, in the order of the first."""
    shared = set.intersection(*(set(table.index_to_key) for table in tables)) - {OOV}
    words = [word for word in tables[0].index_to_key if word in shared]
    return [CipherVectors(words, np.asarray(t.vectors)[[t.key_to_index[word] for word in words]]) for t in tables]


def figures_of_probe(result: ProbeResult) -> dict[str, list[float]]:
    """Return mean and standard deviation over seeds, in percent."""
    names = ("accuracy", "weighted_f1") + (("span_f1",) if result.seeds[0].span_f1 is not None else ())
    return {name: [100 * result.mean(name), 100 * result.spread(name)] for name in names}


def main(request: dict) -> None:
    """Read, evaluate and print."""
    tables = restrict_to_shared([CipherVectors.load(each["uri"]) for each in request["vectors"]])
    tasks = [read_task(name, request[name]) for name in ("pos", "ner")]
    sets = {file.rpartition("/")[2].removesuffix(".txt"): file for file in list_similarity_files(request["similarity"])}
    scores = []
    for given, table in zip(request["vectors"], tables, strict=True):
        probes = {task.name: figures_of_probe(probe(table, task, range(request["seeds"]))) for task in tasks}
        pairs = {name: 100 * table.evaluate_word_pairs(file).spearman for name, file in sets.items()}
        analogies = 100 * table.evaluate_word_analogies(request["analogies"], request["analogy_words"]).accuracy
        kept = {name: given[name] for name in ("method", "title", "is_ours", "cpu", "peak")}
        scores.append({**kept, **probes, "similarity": pairs, "analogies": analogies})
    print(json.dumps({"words": len(tables[0]), "seeds": request["seeds"], "vectors": scores}, indent=1))


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))

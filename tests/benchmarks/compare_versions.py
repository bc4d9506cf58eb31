"""Vectors of a growing build: kept axes against fresh ones, and probes that are not trained again.

Makes a build of --base and of the first documents of --grow, then ten updates by a thirtieth of these documents, and
one by a third: 1 % and 10 % of all text, if --base is gutenberg, and --grow is enwiki. Each version is compared with a
factorization from scratch of the same counts. Prints a Markdown table. An interrupted run resumes.
"""

import argparse
import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch

from bitcipher.embedding.spectral.basis import find_rotation
from bitcipher.evaluation.evaluation_sets import list_similarity_files
from bitcipher.evaluation.neighbors import match_rows
from bitcipher.vectors import CipherVectors
from bitcipher.versions import vectors_of, versions
from pipelines.ingest.quarantine import Quarantine
from pipelines.ingest.read_options import ReadOptions
from pipelines.ingest.readers import read_chunks
from pipelines.ingest.sources import list_sources
from training.probes import metrics, read_task
from training.probes.data import TaskData
from training.probes.fit import fit
from training.probes.model import predict
from training.probes.probe_scores import look_up

BITCIPHER = [sys.executable, "-m", "bitcipher"]
# Shares of all documents of --grow: in the first version, and in each update.
FIRST, UPDATES = 0.31, [0.0345] * 10 + [0.345]
COMMON_WORDS = 10_000


def parse_arguments() -> argparse.Namespace:
    """Return the arguments of the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    path = {"type": Path, "metavar": "PATH", "required": True}
    parser.add_argument("--base", **path, help="folder of text in the first version")
    parser.add_argument("--grow", **path, help="folder of documents that are added")
    parser.add_argument("--keep", **path, help="folder of the build and of the fresh vectors")
    parser.add_argument("--pos", **path, help="folder of GUM")
    parser.add_argument("--ner", **path, help="folder of CoNLL-2003")
    parser.add_argument("--similarity", **path, help="folder of word pairs")
    parser.add_argument("--analogies", **path, help="file of questions")
    parser.add_argument("--seeds", type=int, default=5, help="number of seeds per probe")
    return parser.parse_args()


def write_parts(grow: Path, folder: Path) -> list[Path]:
    """Write the documents of --grow as JSON lines: those of the first version, then those of each update."""
    bounds = np.cumsum([FIRST, *UPDATES])
    paths = [folder / f"part-{number:02d}.jsonl" for number in range(len(bounds))]
    if not paths[-1].exists():
        options, texts = ReadOptions(), []
        for source in list_sources([str(grow)]):
            texts += [chunk.text for chunk in read_chunks(source, options, Quarantine(source.uri, 0.0))]
        ends = np.minimum(np.round(bounds * len(texts)), len(texts)).astype(int)
        for path, part in zip(paths, np.split(np.array(texts, object), ends[:-1]), strict=True):
            path.write_text("".join(json.dumps({"text": text}) + "\n" for text in part))
    return paths


def make_versions(base: Path, parts: Sequence[Path], folder: Path) -> tuple[list[str], list[str]]:
    """Return the folders of the vectors of all versions, and of factorizations from scratch of the same counts."""
    build = folder / "build"
    if not build.exists():
        subprocess.run([*BITCIPHER, "build", base, parts[0], "--out", build], check=True, stdout=sys.stderr)
    for part in parts[len(versions(str(build))) :]:
        subprocess.run([*BITCIPHER, "update", build, part], check=True, stdout=sys.stderr)
    fresh = [folder / f"fresh-{version:02d}" for version in versions(str(build))]
    for version, path in enumerate(fresh, 1):
        if not path.exists():
            command = [*BITCIPHER, "embed", build, "--version", str(version), "--mode", "spectral", "--out", path]
            subprocess.run(command, check=True, stdout=sys.stderr)
    return [vectors_of(str(build), version) for version in versions(str(build))], list(map(str, fresh))


def rotate(vectors: CipherVectors, earlier: CipherVectors) -> CipherVectors:
    """Rotate vectors to earlier ones by orthogonal Procrustes over common words, weighted by their counts."""
    rows = match_rows(vectors, earlier)
    shared = np.flatnonzero(rows >= 0)
    table, target = np.asarray(vectors.vectors), np.asarray(earlier.vectors)[rows[shared]]
    rotation = find_rotation(table[shared], target, np.asarray(vectors.counts)[shared])
    return CipherVectors(vectors.words, table @ rotation.astype(np.float32), vectors.counts)


def median_cosine(earlier: CipherVectors, later: CipherVectors) -> float:
    """Return the median cosine of the most frequent words with themselves."""
    rows = match_rows(earlier, later)[:COMMON_WORDS]
    shared = np.flatnonzero(rows >= 0)
    pairs = np.asarray(earlier.vectors)[shared], np.asarray(later.vectors)[rows[shared]]
    return float(np.median(np.einsum("ij,ij->i", *pairs)))


def losses(earlier: CipherVectors, later: CipherVectors, task: TaskData, seeds: int) -> list[float]:
    """Return how many points of accuracy a probe loses with later vectors, for each seed.

    The probe is trained on earlier vectors, and compared with one that is trained on the later ones.
    """
    before, after = (torch.from_numpy(look_up(vectors, task.words)[0]) for vectors in (earlier, later))
    found = []
    for seed in range(seeds):
        scores = []
        for features in (before, after):
            trained, *_ = fit(features, len(task.labels), task.train.pairs, task.validation.pairs, seed)
            predicted = predict(trained, after).numpy()[task.test.words]
            scores.append(100 * metrics.accuracy(task.test.labels, predicted))
        found.append(scores[1] - scores[0])
    return found


def main() -> None:
    """Make the versions, compare them, and print the table."""
    options = parse_arguments()
    options.keep.mkdir(parents=True, exist_ok=True)
    kept, fresh = make_versions(options.base, write_parts(options.grow, options.keep), options.keep)
    tasks = [read_task(name, str(getattr(options, name))) for name in ("pos", "ner")]
    sets = list_similarity_files(str(options.similarity))
    print("| version | axes | cosine | similarity | analogies | points lost in POS | in NER |")
    print("|---|---|---|---|---|---|---|")
    series = {"kept": kept, "fresh": fresh, "fresh, rotated": fresh}
    for number in range(1, len(kept)):
        for axes, folders in series.items():
            earlier, later = (CipherVectors.load(folder) for folder in folders[number - 1 : number + 1])
            if axes == "fresh, rotated":
                later = rotate(later, earlier)
            pairs = 100 * np.mean([later.evaluate_word_pairs(file).spearman for file in sets])
            analogies = 100 * later.evaluate_word_analogies(str(options.analogies)).accuracy
            lost = [losses(earlier, later, task, options.seeds) for task in tasks]
            figures = [f"{np.mean(points):.2f} ± {np.std(points, ddof=1):.2f}" for points in lost]
            row = [str(number + 1), axes, f"{median_cosine(earlier, later):.3f}", f"{pairs:.1f}", f"{analogies:.1f}"]
            print(f"| {' | '.join(row + figures)} |", flush=True)


if __name__ == "__main__":
    main()

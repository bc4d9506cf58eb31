"""Vectors of a growing build: kept axes against fresh ones and skip-gram, and probes that are not trained again.

Makes a build of --base and of the first documents of --grow, then ten updates by a thirtieth of these documents, and
one by a third: 1 % and 10 % of all text, if --base is gutenberg, and --grow is enwiki. Each version is compared with a
factorization from scratch of the same counts, and the last three with skip-gram. Prints a Markdown table of medians,
with the lowest and highest values over all updates and seeds. An interrupted run resumes.
"""

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
from measure import HERE
from version_scores import EvaluationSets, Key, Record, describe, score_versions

from bitcipher.evaluation.evaluation_sets import list_similarity_files
from bitcipher.versions import vectors_of, versions
from pipelines.ingest.quarantine import Quarantine
from pipelines.ingest.read_options import ReadOptions
from pipelines.ingest.readers import read_chunks
from pipelines.ingest.sources import list_sources
from training.evaluation.probes.tasks import read_task

BITCIPHER = [sys.executable, "-m", "bitcipher"]
# Shares of all documents of --grow: in the first version, and in each update.
FIRST, UPDATES = 0.31, [0.0345] * 10 + [0.345]
LAST_SMALL, LARGE = 11, 12  # versions of the last update by 1 %, and of the update by 10 %
STEPS = {"1 %": range(2, LAST_SMALL + 1), "10 %": range(LARGE, LARGE + 1)}

# Series of each row, and how the vectors of the next version are read.
ROWS = {
    "kept axes": ("kept", "as they are"),
    "fresh axes": ("fresh", "as they are"),
    "fresh axes, rotated": ("fresh", "rotated"),
    "skip-gram, rotated": ("skip-gram", "rotated"),
}
# Digits of each score.
PROBES = {"POS accuracy": 2, "NER accuracy": 2, "NER span F1": 2}
SCORES = {"similarity": 1, "analogies": 1}


def parse_arguments() -> argparse.Namespace:
    """Return the arguments of the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    path = {"type": Path, "metavar": "PATH", "required": True}
    parser.add_argument("--base", **path, help="folder of text in the first version")
    parser.add_argument("--grow", **path, help="folder of documents that are added")
    parser.add_argument("--keep", **path, help="folder of vectors and scores")
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
    if not versions(str(build)):
        subprocess.run([*BITCIPHER, "build", base, parts[0], "--out", build], check=True, stdout=sys.stderr)
    for part in parts[len(versions(str(build))) :]:
        subprocess.run([*BITCIPHER, "update", build, part], check=True, stdout=sys.stderr)
    fresh = [folder / f"fresh-{version:02d}" for version in versions(str(build))]
    for version, path in enumerate(fresh, 1):
        if not path.exists():
            command = [*BITCIPHER, "embed", build, "--version", str(version), "--mode", "spectral", "--out", path]
            subprocess.run(command, check=True, stdout=sys.stderr)
    return [vectors_of(str(build), version) for version in versions(str(build))], list(map(str, fresh))


def train_skip_gram(base: Path, parts: Sequence[Path], folder: Path, version: int) -> str:
    """Return the folder of the vectors of skip-gram, trained on the text of a version."""
    target = folder / f"skip-gram-{version:02d}"
    if not target.exists():
        tokens = folder / "tokens.txt"
        for script in (["prepare.py", "tokens", tokens, base, *parts[:version]], ["train_word2vec.py", tokens, target]):
            subprocess.run([sys.executable, HERE / script[0], *script[1:]], check=True, stdout=sys.stderr)
        os.remove(tokens)
    return str(target)


def rows(records: dict[Key, Record]) -> Iterator[list[str]]:
    """Yield the rows of the table, as cells."""
    for size, numbers in STEPS.items():
        for title, (series, reading) in ROWS.items():
            plain, probed = (pairs_of(records, series, numbers, with_probes) for with_probes in (False, True))
            cells = [describe([old.following[reading]["cosine"] for old, _ in plain], 3)]
            for name, digits in PROBES.items():
                cells.append(describe([old.own[name] - old.following[reading][name] for old, _ in probed], digits))
            for name, digits in PROBES.items():
                cells.append(describe([new.own[name] - old.following[reading][name] for old, new in probed], digits))
            cells += [describe([new.own[name] for _, new in probed], digits) for name, digits in PROBES.items()]
            cells += [describe([new.own[name] for _, new in plain], digits) for name, digits in SCORES.items()]
            yield [size, title, str(len(plain)), *cells]


def pairs_of(records: dict[Key, Record], series: str, numbers: range, with_probes: bool) -> list[tuple[Record, Record]]:
    """Return the records of each version of `numbers` and the one before: those of probes, or those without."""
    found = []
    for key, later in records.items():
        earlier = key._replace(version=key.version - 1)
        if key.series == series and key.version in numbers and (key.seed is not None) == with_probes:
            if earlier in records:  # skip-gram has three versions
                found.append((records[earlier], later))
    return found


def main() -> None:
    """Make the vectors, score them, and print the table."""
    options = parse_arguments()
    keep = options.keep.resolve()
    keep.mkdir(parents=True, exist_ok=True)
    base, parts = options.base.resolve(), write_parts(options.grow, keep)
    kept, fresh = (dict(enumerate(folders, 1)) for folders in make_versions(base, parts, keep))
    trained = {version: train_skip_gram(base, parts, keep, version) for version in (LAST_SMALL - 1, LAST_SMALL, LARGE)}
    sets = EvaluationSets(
        tasks=[read_task(name, str(getattr(options, name))) for name in ("pos", "ner")],
        similarity=list_similarity_files(str(options.similarity)),
        analogies=str(options.analogies),
    )
    series = {"kept": kept, "fresh": fresh, "skip-gram": trained}
    records = score_versions(series, options.seeds, sets, keep / "scores.jsonl")
    changes = [f"{change}, {name}" for change in ("points lost", "less than a new probe") for name in PROBES]
    header = ["update", "vectors", "updates", "cosine", *changes, *PROBES, *SCORES]
    for cells in (header, ["---"] * len(header), *rows(records)):
        print(f"| {' | '.join(cells)} |")


if __name__ == "__main__":
    main()

"""Measure the commands of a build whose corpus has very many small files.

    python tests/benchmarks/check_many_sources.py --data ../shared/data/enwiki --files 100000 --workers 2

Writes documents of about 2 kB, one per file, plans, builds until it is killed at half of the time of a first build,
resumes, updates without news and with 100 more files, and asks for the status. Prints a Markdown table. Linux only.
"""

import argparse
import json
import shutil
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from compare_build import BITCIPHER
from measure import run_script, scratch
from sampled_run import COST_COLUMNS, TreeCost, run_sampled

FILE_CHARACTERS = 2000
MORE_FILES = 100
FOLDER_FILES = 1000


def main() -> None:
    """Write the files, run the commands, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, nargs="+", required=True, help="folders of the text of the files")
    parser.add_argument("--files", type=int, default=100_000, help="number of files")
    parser.add_argument("--workers", type=int, default=2, help="workers on Ray; 0 is in process")
    options = parser.parse_args()
    with scratch() as folder:
        run_script("prepare.py", "documents", folder / "documents.txt", *options.data, folder=folder)
        texts = _pieces(folder / "documents.txt")
        _write_files(folder / "corpus", islice(texts, options.files))
        rows = dict(_measure(folder, texts, options.workers))
    print(f"| command | {' | '.join(COST_COLUMNS)} |\n|{'---|' * (len(COST_COLUMNS) + 1)}")
    for name, cost in rows.items():
        print(f"| {name} | {' | '.join(cost.cells())} |")


def _measure(folder: Path, texts: Iterator[str], workers: int) -> Iterator[tuple[str, TreeCost]]:
    """Yield the name and the cost of each command."""
    corpus, built = folder / "corpus", folder / "build"
    running = ("--workers", workers)
    yield "plan", run_sampled([*BITCIPHER, "plan", corpus])
    build = [*BITCIPHER, "build", corpus, "--out", built, *running]
    whole = run_sampled(build)
    yield "build", whole
    shutil.rmtree(built)
    elapsed = 0.0

    def record(seconds: float, now: int, peak: int) -> None:
        nonlocal elapsed
        elapsed = seconds

    run_sampled(build, lambda: elapsed > whole.seconds / 2, record)
    yield "build, resumed after it was killed halfway", run_sampled(build)
    yield "status", run_sampled([*BITCIPHER, "status", built])
    yield "update without news", run_sampled([*BITCIPHER, "update", built, corpus, *running])
    _write_files(corpus / "more", islice(texts, MORE_FILES))
    yield f"update with {MORE_FILES} more files", run_sampled([*BITCIPHER, "update", built, corpus, *running])


def _pieces(documents: Path) -> Iterator[str]:
    """Yield pieces of the documents, from the first document on again when all are used."""
    while True:
        with open(documents, encoding="utf-8") as lines:
            for line in lines:
                text = json.loads(line)
                yield from (text[at : at + FILE_CHARACTERS] for at in range(0, len(text), FILE_CHARACTERS))


def _write_files(folder: Path, texts: Iterator[str]) -> None:
    """Write one text per file, in folders of `FOLDER_FILES` files."""
    for number, text in enumerate(texts):
        path = folder / f"{number // FOLDER_FILES:04d}" / f"{number:07d}.txt"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(" ".join(text.split()) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()

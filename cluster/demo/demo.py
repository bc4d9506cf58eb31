"""The demo: vectors from the docstrings of installed Python packages, neighbors of nine words, and a page of maps.

A demo has one directory, which is removed if the demo fails:

    docstrings.jsonl.gz  the text (see `cluster.demo.docstrings`)
    documents/           document shards, the text without duplicates
    build/               counts, and vectors of mode spectral
    vectors-sum/         vectors of mode sum, from the same counts
    report.html          the page
    report.json          duration of each step in seconds
"""

import shlex
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from rich.table import Table
from rich.text import Text

from bitcipher.files import json_files, storage
from bitcipher.vectors.cipher_vectors import CipherVectors
from cluster.demo.docstrings import installed_roots, write_docstrings
from pipelines.builds.build import build
from pipelines.builds.report import read_report
from pipelines.clean.unicode_repair import UnicodeRule
from pipelines.duplicates.options import DuplicateOptions
from pipelines.embed.embed_counts import embed_build
from pipelines.options import BuildOptions
from pipelines.reports.maps import require_libraries
from pipelines.runtime.machine_size import threads_of
from pipelines.runtime.open_runtime import open_grouping_runtime, open_runtime
from pipelines.runtime.progress import StageProgress
from pipelines.runtime.visible_console import VisibleConsole
from pipelines.shard.options import ShardOptions
from pipelines.shard.shard_corpus import shard_corpus
from pipelines.store import layout
from pipelines.store.manifest import read_manifest
from pipelines.store.removal import remove_below, remove_empty

DOCSTRINGS = "docstrings.jsonl.gz"
DOCUMENTS = "documents"
BUILD = "build"
SUM = "vectors-sum"
PAGE = "report.html"

# This minimum count leaves 6,000 to 8,000 words of 3 to 6 million tokens. The neighbors of rarer words are noise.
OPTIONS = BuildOptions(min_count=20)

# Docstrings are short and full of names, so rules for web pages would drop most of them.
SHARD_OPTIONS = ShardOptions(rules=(UnicodeRule(),), duplicates=DuplicateOptions())

SUM_EMBEDDING = {"mode": "sum", "bits": 200}

# Words of several kinds that are frequent in docstrings.
WORDS = ("should", "because", "two", "compute", "returns", "function", "matrix", "left", "faster")

NEIGHBORS = 5

TITLE = "bitcipher demo"
ABOUT = (
    "Word vectors built from the English docstrings of the Python packages on this machine, without a network. Mode "
    "Spectral weights the co-occurrence counts, keeps the leading directions, and adds the spelling of words. Mode Sum "
    "adds up the codes of the context words. Both tables of vectors come from the same counts."
)


def run_demo(out: str, workers: int) -> None:
    """Make the demo from the docstrings of the installed packages and print a summary.

    Args:
        out: path or URI of the directory of the demo.
        workers: number of Ray workers; 0 runs in process.

    Raises:
        BitcipherError: if the directory exists or cannot be written, or if a library that the page needs is missing.
    """
    with StageProgress() as progress:
        make_demo(out, installed_roots(), workers, progress)
    show_demo(out)


def make_demo(out: str, roots: Sequence[Path], workers: int, progress: StageProgress) -> None:
    """Make the demo. Its files are removed on failure.

    Args:
        out: path or URI of the directory of the demo.
        roots: directories whose Python files provide the docstrings.
        workers: number of Ray workers; 0 runs in process.
        progress: progress display.
    """
    require_libraries()
    storage.check_new(out)
    try:
        _make(out, roots, workers, progress)
    except BaseException:
        for name in (DOCSTRINGS, DOCUMENTS, BUILD, SUM, PAGE, layout.REPORT):
            remove_below(out, name)
        remove_empty(out)
        raise


def _make(out: str, roots: Sequence[Path], workers: int, progress: StageProgress) -> None:
    start = time.perf_counter()
    docstrings, documents, built, page = (storage.join(out, name) for name in (DOCSTRINGS, DOCUMENTS, BUILD, PAGE))
    seconds: dict[str, float] = {}
    with _timed(seconds, "docstrings"):
        write_docstrings(roots, docstrings, progress)
    with _timed(seconds, "shard"), open_grouping_runtime(workers, SHARD_OPTIONS.memory_mib << 20) as runtime:
        shard_corpus([docstrings], documents, SHARD_OPTIONS, runtime, progress)
    with open_runtime(workers, OPTIONS.memory_mib << 20, threads_of(OPTIONS.memory_mib << 20)) as runtime:
        build([documents], built, OPTIONS, runtime, progress)
        report = read_report(built, read_manifest(built))
        seconds.update((name, stage.seconds) for name, stage in report.stages.items())
        bar = progress.begin("page", 1)
        with _timed(seconds, "embed as Sum"):
            target = storage.join(out, SUM)
            embed_build(built, target, SUM_EMBEDDING, OPTIONS.memory_mib, runtime, progress)
    with _timed(seconds, "page"):
        from pipelines.reports.demo.page import write_report

        tables = _load(out)
        write_report(page, TITLE, ABOUT, built, tables, _words_in(tables), seconds)
    progress.advance(bar, 1, "")
    json_files.write(storage.join(out, layout.REPORT), {"seconds": time.perf_counter() - start, "stages": seconds})


def show_demo(out: str) -> None:
    """Print the sizes of a demo, the neighbors of `WORDS`, and commands to try."""
    console = VisibleConsole(highlight=False)
    manifest = read_manifest(storage.join(out, BUILD))
    report = json_files.read(storage.join(out, layout.REPORT))
    stages = ", ".join(f"{name} {taken:.1f}" for name, taken in report["stages"].items())
    console.print(
        f"{manifest.documents:,} docstrings, {manifest.tokens:,} tokens, {manifest.vocabulary:,} words "
        f"in {report['seconds']:.1f} s ({stages})\n",
        soft_wrap=True,
    )
    tables = _load(out)
    grid = Table("word", *(f"neighbors by {name}" for name in tables), box=None, pad_edge=False, padding=(0, 3, 0, 0))
    for word in _words_in(tables):
        grid.add_row(word, *(Text(_nearest(vectors, word)) for vectors in tables.values()))
    console.print(grid)
    words = " ".join(_words_in(tables)[:2]) or "the"
    console.print(
        f"\nOpen {storage.join(out, PAGE)} in a browser for maps of the words, or try\n"
        f"  bitcipher neighbors {shlex.quote(storage.join(out, BUILD))} {words}\n"
        f"  bitcipher inspect {shlex.quote(storage.join(out, SUM))}",
        soft_wrap=True,
        markup=False,
    )


def _load(demo: str) -> dict[str, CipherVectors]:
    return {
        "Spectral": CipherVectors.load(storage.join(demo, BUILD)),
        "Sum": CipherVectors.load(storage.join(demo, SUM)),
    }


def _words_in(tables: dict[str, CipherVectors]) -> list[str]:
    return [word for word in WORDS if all(word in vectors for vectors in tables.values())]


def _nearest(vectors: CipherVectors, word: str) -> str:
    others = [other for other, _ in vectors.most_similar(word, topn=NEIGHBORS)]
    return "  ".join(other if other.isprintable() else repr(other) for other in others)


@contextmanager
def _timed(seconds: dict[str, float], name: str) -> Iterator[None]:
    start = time.perf_counter()
    yield
    seconds[name] = time.perf_counter() - start

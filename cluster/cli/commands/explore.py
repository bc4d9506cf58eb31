"""Command that writes an interactive page about vectors: `explore`."""

from contextlib import suppress
from typing import Annotated

import typer
from rich.progress import TaskID

from bitcipher.files import storage
from cluster.cli.options import Version
from cluster.cli.verbosity import with_verbosity
from cluster.metavars import PATH, VERSION_OR_PATH


@with_verbosity
def explore(
    vectors: Annotated[str, typer.Argument(help="Build, or directory of vectors.", metavar=PATH)],
    *,
    out: Annotated[str, typer.Option(help="HTML file to write; it must not exist yet.", metavar=PATH)],
    compare: Annotated[
        str | None,
        typer.Option(
            help="Show which words moved since another version of this build, another build, or other vectors.",
            metavar=VERSION_OR_PATH,
        ),
    ] = None,
    words: Annotated[int, typer.Option(min=5, help="Number of words on the page, most frequent first.")] = 50_000,
    version: Version = None,
) -> None:
    """Write one HTML page to explore vectors in a browser. It needs no network.

    The page has a map of words, search, neighbors, explanations, and the words that moved between two versions.

    For example: bitcipher explore vectors --out words.html
    """
    from bitcipher.rows.provenance import UnknownProvenanceError
    from bitcipher.stored_build import open_build
    from bitcipher.vectors.cipher_vectors import CipherVectors
    from bitcipher.versions import vectors_of, versions
    from cluster.cli.display.console import OUT, format_table_size
    from pipelines.reports.maps import require_libraries
    from pipelines.runtime.progress import StageProgress

    require_libraries()
    from pipelines.reports.explore.page import Baseline, write_page

    baseline = None
    if compare is not None:
        is_version = compare.isdecimal()
        uri = vectors_of(vectors, int(compare)) if is_version else vectors_of(compare)
        baseline = Baseline(
            f"version {compare}" if is_version else _base_name(compare), CipherVectors.load(uri, verify=True)
        )
    explanations = None
    if version is None and not versions(vectors):
        table = CipherVectors.load(vectors, verify=True)
    else:
        build = open_build(vectors, version)
        table = build.vectors
        # Vectors of mode cipher have no contexts, so their page has no explanations.
        with suppress(UnknownProvenanceError):
            explanations = build.explainer().strongest
    with StageProgress() as progress:
        bars: dict[str, TaskID] = {}

        def advance(stage: str, done: int, total: int) -> None:
            if stage not in bars:
                bars[stage] = progress.begin(stage, total)
            progress.advance(bars[stage], done, "")

        shown = write_page(out, _base_name(vectors), table, words, explanations, baseline, advance)
    OUT.print(f"{shown:,} of {format_table_size(len(table), table.vector_size)} → {out}")


def _base_name(uri: str) -> str:
    """Return the last part of a path. Users share pages, so a page must not show directories of this machine."""
    return storage.absolute(uri).rstrip("/").rpartition("/")[2]

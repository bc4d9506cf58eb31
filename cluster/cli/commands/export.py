"""Command that writes vectors in the formats of other libraries, and counts as sparse matrices: `export`."""

from typing import Annotated

import typer

from bitcipher.formats.registry import FORMATS
from cluster.cli.options import Version
from cluster.cli.verbosity import with_verbosity
from cluster.metavars import PATH

COUNTS = "counts"
OPENED_BY = {name: each.opened_by for name, each in FORMATS.items()} | {COUNTS: "scipy.sparse.load_npz, Arrow"}
# One line per format. The \b keeps the help page from joining them.
_FORMATS = "\b\n" + "\n".join(f"{name:<22}{libraries}" for name, libraries in OPENED_BY.items())


@with_verbosity
def export(
    vectors: Annotated[str, typer.Argument(help="Build, or directory of vectors.", metavar=PATH)],
    *,
    format: Annotated[
        str,
        typer.Option(
            help=f"Format, listed with the libraries that open it.\n\n{_FORMATS}", metavar="NAME", show_default=False
        ),
    ],
    out: Annotated[str, typer.Option(help="File or directory to write; it must not exist yet.", metavar=PATH)],
    version: Version = None,
) -> None:
    """Write vectors or counts in the format of another library.

    For example: bitcipher export vectors --format word2vec-binary --out vectors.bin
    """
    if format == COUNTS:
        _export_counts(vectors, out, version)
    else:
        _export_vectors(vectors, format, out, version)


def _export_vectors(uri: str, format: str, out: str, version: int | None) -> None:
    from bitcipher.formats.writer import write
    from bitcipher.vectors.cipher_vectors import CipherVectors
    from cluster.cli.display.console import OUT, format_table_size
    from pipelines.runtime.progress import StageProgress

    table = CipherVectors.load(uri, version, verify=True)
    with StageProgress() as progress:
        bar = progress.begin("export", len(table))
        write(table, format, out, lambda rows: progress.advance(bar, rows, ""))
    OUT.print(f"{format_table_size(len(table), table.vector_size)} → {out} ({OPENED_BY[format]})")


def _export_counts(uri: str, out: str, version: int | None) -> None:
    from bitcipher.formats.count_folder import list_count_files, write_counts
    from bitcipher.stored_build import open_build
    from cluster.cli.display.console import OUT, format_count
    from pipelines.runtime.progress import StageProgress

    build = open_build(uri, version)
    with StageProgress() as progress:
        bar = progress.begin("export", len(list_count_files(build)))
        write_counts(build, out, lambda matrices: progress.advance(bar, matrices, ""))
    OUT.print(f"{format_count(len(build.vocabulary), 'word')}, window {build.window} → {out} ({OPENED_BY[COUNTS]})")

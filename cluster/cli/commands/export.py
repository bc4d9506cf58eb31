"""Command that writes vectors in the formats of other libraries: `export`."""

from typing import Annotated

import typer

from bitcipher.formats import FORMATS
from cluster.cli.options import Version
from cluster.metavars import PATH

# One line per format. The \b keeps the help page from joining them.
_FORMATS = "\b\n" + "\n".join(f"{name:<22}{each.opened_by}" for name, each in FORMATS.items())


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
    """Write vectors as a file or directory that another library opens.

    For example: bitcipher export vectors --format word2vec-binary --out vectors.bin
    """
    from bitcipher.formats import write
    from bitcipher.vectors import CipherVectors
    from bitcipher.versions import vectors_of
    from pipelines.runtime.progress import StageProgress

    table = CipherVectors.load(vectors_of(vectors, version))
    with StageProgress() as progress:
        bar = progress.begin("export", len(table))
        write(table, format, out, lambda rows: progress.advance(bar, rows, ""))
    print(f"{len(table):,} words, {table.vector_size} dimensions → {out} ({FORMATS[format].opened_by})")

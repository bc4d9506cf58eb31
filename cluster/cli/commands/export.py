"""The command that hands vectors on to other libraries: `export`."""

from typing import Annotated

import typer

from bitcipher.formats import FORMATS
from cluster.cli.options import PATH, Version

# A line for each format; the mark keeps help from joining them.
_FORMATS = "\b\n" + "\n".join(f"{name:<22}{each.opened_by}" for name, each in FORMATS.items())


def export(
    vectors: Annotated[str, typer.Argument(help="A build, or a folder of vectors.", metavar=PATH)],
    format: Annotated[
        str,
        typer.Option(help=f"What to write; here with what opens it.\n\n{_FORMATS}", metavar="NAME", show_default=False),
    ] = ...,
    out: Annotated[str, typer.Option(help="File or folder to write; it must not be there yet.", metavar=PATH)] = ...,
    version: Version = None,
) -> None:
    """Write vectors as a file or folder that another library opens.

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
    print(f"{len(table):,} words, {table.vector_size} dimensions → {out}, for {FORMATS[format].opened_by}")

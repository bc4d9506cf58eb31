"""Commands that show builds and vectors: `neighbors` and `inspect`."""

from typing import Annotated

import typer

from cluster.cli.options import Version
from cluster.metavars import PATH

Vectors = Annotated[str, typer.Argument(help="Build, or directory of vectors.", metavar=PATH)]


def neighbors(
    vectors: Vectors,
    words: Annotated[list[str], typer.Argument(help="Words to look up.")],
    topn: Annotated[int, typer.Option(min=1, help="Number of neighbors per word.")] = 10,
    version: Version = None,
    oov: Annotated[bool, typer.Option("--oov", help="Use the vector of <oov> for unknown words.")] = False,
) -> None:
    """Show the words with the highest cosine similarity to each given word.

    For example: bitcipher neighbors vectors king london
    """
    from cluster.cli.display import builds

    builds.print_neighbors(vectors, words, topn, oov, version)


def inspect(vectors: Vectors, version: Version = None) -> None:
    """Show the options, sizes, digests and stage costs of a build or of vectors.

    For example: bitcipher inspect vectors
    """
    from cluster.cli.display import builds

    builds.print_contents(vectors, version)

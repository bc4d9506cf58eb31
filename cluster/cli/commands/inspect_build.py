"""Commands that show what there is: `neighbors` and `inspect`."""

from typing import Annotated

import typer

from cluster.cli.options import PATH, Version


def neighbors(
    vectors: Annotated[str, typer.Argument(help="A build, or a folder of vectors.", metavar=PATH)],
    words: Annotated[list[str], typer.Argument(help="Words to look up.")],
    topn: Annotated[int, typer.Option(min=1, help="Neighbors of each word.")] = 10,
    version: Version = None,
    oov: Annotated[bool, typer.Option("--oov", help="Take <oov> for words that the vectors do not have.")] = False,
) -> None:
    """Show the words whose vectors are nearest, by cosine.

    For example: bitcipher neighbors vectors king london
    """
    from cluster.cli.display import builds

    builds.neighbors(vectors, words, topn, oov, version)


def inspect(
    folder: Annotated[str, typer.Argument(help="A build, or a folder of vectors.", metavar=PATH)],
    version: Version = None,
) -> None:
    """Show what a build or vectors are made of: options, sizes, digests, and what each stage took."""
    from cluster.cli.display import builds

    builds.inspect(folder, version)

"""Commands that show builds and vectors: `neighbors` and `inspect`."""

from typing import Annotated

import typer

from cluster.cli.options import AsJson, Version
from cluster.metavars import PATH

Vectors = Annotated[str, typer.Argument(help="Build, or directory of vectors.", metavar=PATH)]


def neighbors(
    vectors: Vectors,
    words: Annotated[list[str], typer.Argument(help="Words to look up.")],
    topn: Annotated[int, typer.Option(min=1, help="Number of neighbors per word.")] = 10,
    version: Version = None,
    oov: Annotated[bool, typer.Option("--oov", help="Use the vector of <oov> for unknown words.")] = False,
    as_json: AsJson = False,
) -> None:
    """Show the words with the highest cosine similarity to each given word.

    For example: bitcipher neighbors vectors king london
    """
    from cluster.cli.display.result import print_result
    from cluster.cli.display.vectors import find_neighbors, print_neighbors

    queries = find_neighbors(vectors, words, topn, oov, version)
    print_result({"queries": queries}, as_json, lambda: print_neighbors(queries))


def inspect(vectors: Vectors, version: Version = None, as_json: AsJson = False) -> None:
    """Show the options, sizes, digests and stage costs of a build or of vectors.

    For example: bitcipher inspect vectors
    """
    from cluster.cli.display.result import print_result
    from cluster.cli.display.vectors import print_contents, read_contents

    contents = read_contents(vectors, version)
    print_result(contents, as_json, lambda: print_contents(vectors, contents))

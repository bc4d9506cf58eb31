"""Commands that show builds and vectors: `neighbors`, `inspect` and `status`."""

from typing import Annotated

import typer

from cluster.cli.options import AsJson, UnknownWords, Version, parse_oov
from cluster.metavars import BUILD, PATH

Vectors = Annotated[str, typer.Argument(help="Build, or directory of vectors.", metavar=PATH)]


def neighbors(
    vectors: Vectors,
    words: Annotated[list[str], typer.Argument(help="Words to look up.")],
    topn: Annotated[int, typer.Option(min=1, help="Number of neighbors per word.")] = 10,
    version: Version = None,
    plus: Annotated[
        list[str] | None, typer.Option(help="Word whose vector is added to each word. Repeat for several.")
    ] = None,
    minus: Annotated[
        list[str] | None, typer.Option(help="Word whose vector is subtracted from each word. Repeat for several.")
    ] = None,
    case_insensitive: Annotated[
        bool,
        typer.Option(
            "--case-insensitive", help="Instead of an unknown word, take the most frequent one that differs in case."
        ),
    ] = False,
    oov: UnknownWords = None,
    as_json: AsJson = False,
) -> None:
    """Show the words with the highest cosine similarity to a word.

    With --plus and --minus, an analogy: king is to man as which word is to woman?

    For example: bitcipher neighbors vectors king --minus man --plus woman
    """
    from bitcipher.vectors.cipher_vectors import CipherVectors
    from cluster.cli.display.result import print_result
    from cluster.cli.display.vectors import print_neighbors
    from cluster.neighbors import NeighborFinder, NeighborQuery

    query = NeighborQuery(
        tuple(plus or ()), tuple(minus or ()), topn, parse_oov(oov) if oov else None, case_insensitive
    )
    found = NeighborFinder(CipherVectors.load(vectors, version, verify=True)).find(words, query)
    print_result({"queries": found}, as_json, lambda: print_neighbors(found))


def inspect(vectors: Vectors, version: Version = None, as_json: AsJson = False) -> None:
    """Show the options, sizes, digests and costs of a build.

    For example: bitcipher inspect vectors
    """
    from cluster.cli.display.result import print_result
    from cluster.cli.display.vectors import print_contents, read_contents

    contents = read_contents(vectors, version)
    print_result(contents, as_json, lambda: print_contents(vectors, contents))


def status(
    build: Annotated[str, typer.Argument(help="Directory of the build.", metavar=BUILD)], as_json: AsJson = False
) -> None:
    """Show the versions of a build, and the progress of its job.

    For example: bitcipher status vectors
    """
    from cluster.cli.display.result import print_result
    from cluster.cli.display.status import find_status, print_status

    found = find_status(build)
    print_result(found, as_json, lambda: print_status(found))

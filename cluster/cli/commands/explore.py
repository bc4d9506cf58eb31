"""The command `explore`."""

from contextlib import suppress
from typing import Annotated

import typer

from bitcipher import storage
from cluster.cli.options import PATH, VERSION_OR_PATH, Version


def explore(
    vectors: Annotated[str, typer.Argument(help="A build, or a folder of vectors.", metavar=PATH)],
    out: Annotated[str, typer.Option(help="The page; it must not be there yet.", metavar=PATH)] = ...,
    compare: Annotated[
        str | None,
        typer.Option(
            help="Show what moved since a version of this build by its number, another build, or a folder of vectors.",
            metavar=VERSION_OR_PATH,
        ),
    ] = None,
    words: Annotated[int, typer.Option(min=5, help="Words on the page, the most frequent ones.")] = 50_000,
    version: Version = None,
) -> None:
    """Write a page to explore vectors by, in any browser, without a network.

    It has a map of words, a search, neighbors, what put a word where it is, and what moved between two versions.
    For example: bitcipher explore vectors --out words.html
    """
    from bitcipher.explain import Explainer
    from bitcipher.rows import UnknownProvenanceError
    from bitcipher.vectors import CipherVectors
    from bitcipher.versions import vectors_of, versions
    from pipelines.embed.vectors_with_counts import load_with_counts
    from pipelines.reports.explore import Compared, write_page
    from pipelines.runtime.progress import StageProgress

    before = None
    if compare is not None:
        place = vectors_of(vectors, int(compare)) if compare.isdecimal() else vectors_of(compare)
        name = f"version {compare}" if compare.isdecimal() else _name(compare)
        before = Compared(name, CipherVectors.load(place))
    explanations = None
    if version is None and not versions(vectors):
        table = CipherVectors.load(vectors)
    else:
        table, counts, _ = load_with_counts(vectors, version=version)
        # Vectors that are not made of contexts have a page without explanations.
        with suppress(UnknownProvenanceError):
            explanations = Explainer(table, counts).strongest
    bars = {}
    with StageProgress() as progress:

        def advance(stage: str, done: int, total: int) -> None:
            if stage not in bars:
                bars[stage] = progress.begin(stage, total)
            progress.advance(bars[stage], done, "")

        write_page(out, _name(vectors), table, words, explanations, before, advance)
    typer.echo(f"{len(table):,} words, {table.vector_size} dimensions → {out}")


def _name(place: str) -> str:
    """The last part of a path: pages travel, and where a folder lay on this machine concerns nobody else."""
    return storage.absolute(place).rstrip("/").rpartition("/")[2]

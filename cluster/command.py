"""The command `bitcipher`: `bitcipher --help` tells what it can do."""

import signal
import sys
from typing import Annotated, Any

import typer

from bitcipher import __version__
from bitcipher.errors import BitcipherError

# What only some of the commands need (spaCy, Ray, plotting) is imported by those, so that the others start sooner.

app = typer.Typer(
    name="bitcipher",
    help="Exact, explainable, addable word vectors from text of any size, on Ray or on this machine.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)

Bits = Annotated[
    int | None,
    typer.Option(
        help="Bits of the code. Mode cat has 2 x radius x bits dimensions, sum and cipher have as many as bits.",
        show_default="25",
    ),
]
Radius = Annotated[int | None, typer.Option(help="The farthest context word on either side.", show_default="4")]
Mode = Annotated[
    str | None,
    typer.Option(
        help="cat: a block of dimensions for each offset; sum: all offsets in one; "
        "cipher: the code alone, without context.",
        show_default="cat",
    ),
]
Noise = Annotated[
    str | None,
    typer.Option(
        help="How far codes are trusted: document_share, frequency, document_ratio or none.",
        show_default="document_share",
    ),
]
Log = Annotated[
    str | None,
    typer.Option(
        help="aggregate: log of each block's shares; counts: log of counts, before they are added; none.",
        show_default="aggregate",
    ),
]
Workers = Annotated[
    int,
    typer.Option(
        min=0,
        help="Ray actors of each stage; 0 runs in this process. "
        "In a Ray job, or with RAY_ADDRESS set, they run on that cluster.",
    ),
]


@app.command()
def build(
    sources: Annotated[
        list[str] | None,
        typer.Argument(help="Files, folders or globs of text, JSON lines, Parquet or WET; paths or URIs."),
    ] = None,
    out: Annotated[str, typer.Option(help="Folder of the build, path or URI; it must not be there yet.")] = ...,
    recipe: Annotated[
        str | None,
        typer.Option(help="YAML file with any of these options and `sources`; what is given here as well wins."),
    ] = None,
    workers: Workers = 0,
    format: Annotated[
        str | None,
        typer.Option(help="text, jsonl, parquet or wet for all sources.", show_default="told by each file's ending"),
    ] = None,
    document: Annotated[
        str | None, typer.Option(help="In plain text, what a document is: line or file.", show_default="line")
    ] = None,
    field: Annotated[
        str | None,
        typer.Option(help="The field of JSON lines, or column of Parquet, that holds the text.", show_default="text"),
    ] = None,
    tokenizer: Annotated[
        str | None,
        typer.Option(
            help="spacy, spacy-exact, whitespace, or the path of a Hugging Face tokenizer.json.", show_default="spacy"
        ),
    ] = None,
    lowercase: Annotated[bool | None, typer.Option(help="Lower-case tokens.", show_default="lowercase")] = None,
    min_count: Annotated[
        int | None, typer.Option(help="Words that occur less often become <oov>.", show_default="5")
    ] = None,
    max_size: Annotated[int | None, typer.Option(help="Keep that many words at most.", show_default="no limit")] = None,
    word_list: Annotated[str | None, typer.Option(help="Keep exactly the words of this file, one a line.")] = None,
    summed: Annotated[
        bool | None,
        typer.Option(
            help="Count all offsets into one matrix, for wide windows (radius up to 128) and mode sum.",
            show_default="no-summed",
        ),
    ] = None,
    bits: Bits = None,
    radius: Radius = None,
    mode: Mode = None,
    noise: Noise = None,
    log: Log = None,
    shard_megabytes: Annotated[
        int | None,
        typer.Option(help="Text in a shard; each worker takes about 10 times as much memory.", show_default="64"),
    ] = None,
    keep_documents: Annotated[
        bool | None, typer.Option(help="Keep the shards of documents.", show_default="no-keep-documents")
    ] = None,
) -> None:
    """Count a corpus and make its vectors.

    For example: bitcipher build corpus/*.json.gz --out vectors --radius 4
    """
    given = {name: value for name, value in locals().items() if name not in ("sources", "out", "recipe", "workers")}
    from cluster import show
    from pipelines.build import build as run
    from pipelines.options import BuildOptions, read_recipe
    from pipelines.progress import StageProgress
    from pipelines.runtime import open_runtime

    values: dict[str, Any] = read_recipe(recipe) if recipe else {}
    listed = values.pop("sources", [])
    if not isinstance(listed, list) or not all(isinstance(source, str) for source in listed):
        raise BitcipherError(f"The recipe {recipe} must give sources as a list of paths or URIs.")
    values.update((name, value) for name, value in given.items() if value is not None)
    options = BuildOptions.from_dict(values, recipe or "The command line")
    with StageProgress() as progress, open_runtime(workers) as runtime:
        run(sources or listed, out, options, runtime, progress)
    show.build_summary(out)


@app.command()
def embed(
    build: Annotated[str, typer.Argument(help="A build, whose counts are used.")],
    out: Annotated[str, typer.Option(help="Folder of the vectors, path or URI; it must not be there yet.")] = ...,
    bits: Bits = None,
    radius: Radius = None,
    mode: Mode = None,
    noise: Noise = None,
    log: Log = None,
    workers: Workers = 0,
) -> None:
    """Make other vectors of a build's counts, without reading text again.

    For example: bitcipher embed vectors --mode sum --bits 200 --out vectors-sum
    """
    given = {"bits": bits, "radius": radius, "mode": mode, "noise": noise, "log": log}
    from cluster import show
    from pipelines.embed import embed_build
    from pipelines.runtime import open_runtime

    with open_runtime(workers) as runtime:
        sizes = embed_build(build, out, {name: value for name, value in given.items() if value is not None}, runtime)
    show.embed_summary(out, sizes)


@app.command()
def neighbors(
    vectors: Annotated[str, typer.Argument(help="A build, or a folder of vectors.")],
    words: Annotated[list[str], typer.Argument(help="Words to look up.")],
    topn: Annotated[int, typer.Option(min=1, help="Neighbours of each word.")] = 10,
    oov: Annotated[bool, typer.Option("--oov", help="Take <oov> for words that the vectors do not have.")] = False,
) -> None:
    """Show the words whose vectors are nearest, by cosine.

    For example: bitcipher neighbors vectors king london
    """
    from cluster import show

    show.neighbors(vectors, words, topn, oov)


@app.command()
def inspect(folder: Annotated[str, typer.Argument(help="A build, or a folder of vectors.")]) -> None:
    """Show what a build or vectors are made of: options, sizes, digests, and what each stage took."""
    from cluster import show

    show.inspect(folder)


@app.command()
def demo(
    out: Annotated[str, typer.Option(help="Folder for the demo; it must not be there yet.")] = "demo",
    workers: Workers = 0,
) -> None:
    """Build vectors from the English of the installed Python packages' docstrings, without a network.

    Shows neighbours of a few words, and writes a page with a map of words.
    """
    from cluster.demo import run_demo

    run_demo(out, workers)


@app.callback(invoke_without_command=True)
def version(show_version: Annotated[bool, typer.Option("--version", help="Show the version.")] = False) -> None:
    """Answer `--version`."""
    if show_version:
        print(f"bitcipher {__version__}")
        raise typer.Exit


def main() -> None:
    """Run the command; a user's mistake is one sentence on stderr and exit code 2."""
    # A killed build cleans up behind itself as one that failed.
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(128 + number))
    try:
        app()
    except BitcipherError as error:
        print(f"bitcipher: {error}", file=sys.stderr)
        sys.exit(2)


if __name__ == "__main__":
    main()

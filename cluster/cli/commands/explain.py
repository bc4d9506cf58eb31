"""Commands that read vectors and the counts that they were made from: `explain` and `infer`."""

from typing import Annotated, Any

import typer

from bitcipher.errors import BitcipherError
from cluster.cli.options import Version
from cluster.metavars import NAME_OR_PATH, PATH

# Number of context words to show per dimension.
CONTEXTS_PER_DIMENSION = 3

UNITS = ("context", "dimension")

Vectors = Annotated[str, typer.Argument(help="Build, or directory of vectors (needs --counts).", metavar=PATH)]
Counts = Annotated[
    str | None, typer.Option(help="For a directory of vectors: the build that they were made from.", metavar=PATH)
]


def explain(
    vectors: Vectors,
    word: Annotated[str, typer.Argument(help="Word to explain.")],
    other: Annotated[str | None, typer.Argument(help="Explain the similarity of both words.")] = None,
    topn: Annotated[int, typer.Option(min=1, help="Number of contributions to show, strongest first.")] = 15,
    by: Annotated[
        str,
        typer.Option(help="Unit of the contributions. `dimension` requires mode cat or sum.", metavar="|".join(UNITS)),
    ] = "context",
    counts: Counts = None,
    version: Version = None,
) -> None:
    """Show which context words determine a vector or a similarity. Each contribution has an offset.

    If the vectors depend on the spelling, n-grams are shown, too. The contributions and the remainder add up exactly to
    the similarity.

    For example: bitcipher explain vectors king queen
    """
    if by not in UNITS:
        raise BitcipherError(f"`--by` must be {' or '.join(UNITS)}, got {by!r}.")
    from bitcipher.stored_build import open_build
    from cluster.cli.display import explanation

    opened = open_build(counts or vectors, version, vectors if counts else None)
    words = [word] if other is None else [word, other]
    explainer = opened.explainer(words)
    if by == "context":
        explanation.print_contexts(explainer.explain(word, other, topn))
    else:
        shares = explainer.dimensions(word, other, topn, CONTEXTS_PER_DIMENSION)
        explanation.print_dimensions(word, other, shares)


def infer(
    vectors: Vectors,
    word: Annotated[str, typer.Argument(help="Word, spelled as the tokenizer of the build returns it.")],
    *,
    contexts: Annotated[str, typer.Option(help="Text with the word in it, one sentence per line.", metavar=PATH)],
    topn: Annotated[int, typer.Option(min=1, help="Number of neighbors to show.")] = 10,
    counts: Counts = None,
    version: Version = None,
    tokenizer: Annotated[
        str | None,
        typer.Option(
            help="The tokenizer.json of the build, if it was read from the network or has another path now.",
            metavar=NAME_OR_PATH,
        ),
    ] = None,
) -> None:
    """Infer a vector for a new word from sentences, with neighbors.

    For example: bitcipher infer vectors wampimuk --contexts sentences.txt
    """
    from bitcipher.stored_build import open_build
    from cluster.cli.display import explanation
    from pipelines.builds.sentences import read_sentences
    from pipelines.store.manifest import read_manifest
    from pipelines.store.stored_files import check_tokenizer, use_given_files

    opened = open_build(counts or vectors, version, vectors if counts else None)
    counted = read_manifest(opened.uri, opened.version_of_vectors)
    options = use_given_files(counted.options, vectors, tokenizer=tokenizer)
    check_tokenizer(options, counted.fingerprint, vectors)
    sentences = read_sentences(contexts, options)
    vector = opened.infer(sentences, word)
    neighbors: Any = opened.vectors.similar_by_vector(vector, topn)
    explanation.print_inferred(word, sum(word in sentence for sentence in sentences), neighbors)

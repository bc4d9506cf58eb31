"""Commands that ask the counts behind vectors: `explain` and `infer`."""

from typing import Annotated

import typer

from cluster.cli.options import PATH, Version

# Context words to name beside a dimension.
CONTEXTS = 3

Counts = Annotated[
    str | None,
    typer.Option(help="For a folder of vectors: the build that they were made of.", metavar=PATH),
]


def explain(
    vectors: Annotated[str, typer.Argument(help="A build, or a folder of vectors with --counts.", metavar=PATH)],
    word: Annotated[str, typer.Argument(help="The word to explain.")],
    other: Annotated[str | None, typer.Argument(help="Explain what makes the two words alike.")] = None,
    topn: Annotated[int, typer.Option(min=1, help="Parts to show, the strongest.")] = 15,
    by: Annotated[str, typer.Option(help="context, or dimension (modes cat and sum).")] = "context",
    counts: Counts = None,
    version: Version = None,
) -> None:
    """Show which context words, and where they stand, put a word's vector where it is, or make two words alike.

    The parts and the rest add up to the similarity, exactly.
    For example: bitcipher explain vectors king queen
    """
    from bitcipher.errors import BitcipherError
    from bitcipher.explain import Explainer
    from cluster.cli.display import explanation
    from pipelines.embed.vectors_with_counts import load_with_counts

    if by not in ("context", "dimension"):
        raise BitcipherError(f"There is nothing to explain by {by!r}: choose context or dimension.")
    opened = load_with_counts(vectors, counts, version)
    explainer = Explainer(opened.vectors, opened.counts, [word] if other is None else [word, other])
    if by == "context":
        explanation.contexts(explainer.explain(word, other, topn))
    else:
        explanation.dimensions(word, other, explainer.dimensions(word, other, topn, CONTEXTS))


def infer(
    vectors: Annotated[str, typer.Argument(help="A build, or a folder of vectors with --counts.", metavar=PATH)],
    word: Annotated[str, typer.Argument(help="The word, as the build's tokenizer gives it.")],
    contexts: Annotated[str, typer.Option(help="Text that holds the word, a sentence a line.", metavar=PATH)] = ...,
    topn: Annotated[int, typer.Option(min=1, help="Neighbors to show.")] = 10,
    counts: Counts = None,
    version: Version = None,
) -> None:
    """Show the neighbors of a word that was never counted, from a few sentences that hold it.

    For example: bitcipher infer vectors wampimuk --contexts sentences.txt
    """
    from bitcipher.infer import infer
    from cluster.cli.display import explanation
    from pipelines.build.sentences import read_sentences
    from pipelines.embed.vectors_with_counts import load_with_counts

    opened = load_with_counts(vectors, counts, version)
    sentences = read_sentences(contexts, opened.options)
    vector = infer(opened.vectors, sentences, word, opened.counts)
    neighbors = opened.vectors.similar_by_vector(vector, topn)
    explanation.inferred(word, sum(word in sentence for sentence in sentences), neighbors)

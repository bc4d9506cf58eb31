"""Commands that tell how good vectors are: `probe` and `evaluate`."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from bitcipher.errors import BitcipherError
from cluster.cli.dependencies import require
from cluster.cli.options import PATH

if TYPE_CHECKING:
    from bitcipher.vectors import CipherVectors

VectorFiles = Annotated[
    list[str],
    typer.Argument(help="Builds, folders of vectors, or files of word2vec, GloVe or fastText.", metavar=PATH),
]
Seeds = Annotated[int, typer.Option(min=1, help="Probes to train; more tell the spread better.")]


def probe(
    vectors: VectorFiles,
    task: Annotated[str, typer.Option(help="pos: part of speech; ner: entities.")] = ...,
    data: Annotated[
        str,
        typer.Option(help="Folder of the corpus: GUM in CoNLL-U for pos, CoNLL-2003 for ner.", metavar=PATH),
    ] = ...,
    seeds: Seeds = 3,
) -> None:
    """Train small networks that see one vector and tell the word's part of speech or entity.

    For example: bitcipher probe vectors glove.6B.200d.txt --task pos --data gum
    """
    require("A probe", "torch", "sklearn")
    from cluster.cli.display import evaluation
    from training.probes import probe as run
    from training.probes import read_task

    labeled = read_task(task, data)
    results = ((name, table.vector_size, run(table, labeled, range(seeds))) for name, table in _read_each(vectors))
    evaluation.probes(labeled, results)


def evaluate(
    vectors: VectorFiles,
    similarity: Annotated[
        str | None,
        typer.Option(help="Word pairs with scores: a file, or a folder of such files.", metavar=PATH),
    ] = None,
    analogies: Annotated[
        str | None,
        typer.Option(help="Questions of analogy in the form of Google's questions-words.txt.", metavar=PATH),
    ] = None,
) -> None:
    """Compare vectors with people's judgement: similarity of words, and analogies.

    For example: bitcipher evaluate vectors --similarity similarity --analogies questions-words.txt
    """
    if similarity is None and analogies is None:
        raise BitcipherError("Say what to compare with: --similarity, --analogies, or both.")
    from bitcipher.evaluation.evaluation_sets import similarity_files
    from cluster.cli.display import evaluation

    files = similarity_files(similarity) if similarity else []
    tables = list(_read_each(vectors))
    if files:
        scores = {file: [table.evaluate_word_pairs(file) for _, table in tables] for file in files}
        evaluation.similarity([name for name, _ in tables], scores)
    if analogies:
        evaluation.analogies([(name, table.evaluate_word_analogies(analogies)) for name, table in tables])


def _read_each(vectors: Sequence[str]) -> "Iterator[tuple[str, CipherVectors]]":
    from bitcipher.formats import read

    return ((uri, read(uri)) for uri in vectors)

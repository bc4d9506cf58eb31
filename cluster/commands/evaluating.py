"""Commands that tell how good vectors are: `probe`, `evaluate` and `reproduce tables`."""

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from bitcipher.errors import BitcipherError
from cluster.commands.needs import require
from cluster.commands.options import PLACE

if TYPE_CHECKING:
    from bitcipher.vectors import CipherVectors

VectorFiles = Annotated[
    list[str],
    typer.Argument(help="Builds, folders of vectors, or files of word2vec, GloVe or fastText.", metavar=PLACE),
]
Seeds = Annotated[int, typer.Option(min=1, help="Probes to train; more tell the spread better.")]


def probe(
    vectors: VectorFiles,
    task: Annotated[str, typer.Option(help="pos: part of speech; ner: entities.")] = ...,
    data: Annotated[
        str,
        typer.Option(help="Folder of the corpus: GUM in CoNLL-U for pos, CoNLL-2003 for ner.", metavar=PLACE),
    ] = ...,
    seeds: Seeds = 3,
) -> None:
    """Train small networks that see one vector and tell the word's part of speech or entity.

    For example: bitcipher probe vectors glove.6B.200d.txt --task pos --data gum
    """
    require("A probe", "torch", "sklearn")
    from cluster import show_evaluation
    from training.probes import probe as run
    from training.probes import read_task

    labelled = read_task(task, data)
    results = ((name, table.vector_size, run(table, labelled, range(seeds))) for name, table in _read_each(vectors))
    show_evaluation.probes(labelled, results)


def evaluate(
    vectors: VectorFiles,
    similarity: Annotated[
        str | None,
        typer.Option(help="Word pairs with scores: a file, or a folder of such files.", metavar=PLACE),
    ] = None,
    analogies: Annotated[
        str | None,
        typer.Option(help="Questions of analogy in the form of Google's questions-words.txt.", metavar=PLACE),
    ] = None,
) -> None:
    """Compare vectors with people's judgement: similarity of words, and analogies.

    For example: bitcipher evaluate vectors --similarity similarity --analogies questions-words.txt
    """
    if similarity is None and analogies is None:
        raise BitcipherError("Say what to compare with: --similarity, --analogies, or both.")
    from bitcipher.evaluation.sets import similarity_files
    from cluster import show_evaluation

    files = similarity_files(similarity) if similarity else []
    tables = list(_read_each(vectors))
    if files:
        scores = {file: [table.evaluate_word_pairs(file) for _, table in tables] for file in files}
        show_evaluation.similarity([name for name, _ in tables], scores)
    if analogies:
        show_evaluation.analogies([(name, table.evaluate_word_analogies(analogies)) for name, table in tables])


reproduce = typer.Typer(help="Make the paper's results again.", no_args_is_help=True)


@reproduce.command()
def tables(
    builds: Annotated[
        list[str], typer.Argument(help="Builds with counts of radius 4: a row of each table each.", metavar=PLACE)
    ],
    out: Annotated[
        str, typer.Option(help="Folder of the tables; finished cells in it are not done again.", metavar=PLACE)
    ] = ...,
    pos: Annotated[str | None, typer.Option(help="Folder of GUM in CoNLL-U.", metavar=PLACE)] = None,
    ner: Annotated[str | None, typer.Option(help="Folder of CoNLL-2003.", metavar=PLACE)] = None,
    seeds: Seeds = 3,
) -> None:
    """Fill the paper's Tables 2 to 7 from kept counts, with the paper's numbers beside.

    For example: bitcipher reproduce tables build --pos gum --ner conll2003 --out tables
    """
    folders = {"pos": pos, "ner": ner}
    if not any(folders.values()):
        raise BitcipherError("Say what to probe on: --pos, --ner, or both.")
    require("A probe", "torch", "sklearn")
    from cluster.reproduce import reproduce_tables
    from pipelines.progress import StageProgress
    from training.probes import read_task

    tasks = [read_task(name, folder) for name, folder in folders.items() if folder]
    with StageProgress() as progress:

        def begin(cells: int) -> Callable[[str], None]:
            bar = progress.begin("cells", cells)
            return lambda name: progress.advance(bar, 1, name)

        page = reproduce_tables(builds, tasks, out, range(seeds), begin)
    print(f"The tables are in {page}; as rows in tables.csv and tables.parquet beside it.")


def _read_each(vectors: Sequence[str]) -> "Iterator[tuple[str, CipherVectors]]":
    from bitcipher.formats import read

    return ((uri, read(uri)) for uri in vectors)

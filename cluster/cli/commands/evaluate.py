"""Command that measures the quality of vectors: `evaluate`."""

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from bitcipher.errors import BitcipherError
from bitcipher.redaction import redact
from cluster.cli.dependencies import require_extra
from cluster.cli.options import AsJson, UnknownWords, parse_oov
from cluster.metavars import PATH

if TYPE_CHECKING:
    from bitcipher.table.keys import Oov
    from bitcipher.vectors.cipher_vectors import CipherVectors
    from cluster.cli.display.evaluation import TaskProbes
    from training.evaluation.probes.data import TaskData

VectorFiles = Annotated[
    list[str],
    typer.Argument(help="Builds, directories of vectors, or word2vec, GloVe or fastText files.", metavar=PATH),
]
Seeds = Annotated[
    int, typer.Option(min=1, help="Number of seeds. Results are means and standard deviations over the seeds.")
]


def evaluate(
    vectors: VectorFiles,
    similarity: Annotated[
        list[str] | None,
        typer.Option(
            help="File of word pairs with scores, or a directory of such files. Repeat for several.", metavar=PATH
        ),
    ] = None,
    analogies: Annotated[
        str | None, typer.Option(help="Analogy questions in the format of Google's questions-words.txt.", metavar=PATH)
    ] = None,
    pos: Annotated[
        str | None, typer.Option(help="Directory of GUM (CoNLL-U), to predict parts of speech.", metavar=PATH)
    ] = None,
    ner: Annotated[
        str | None, typer.Option(help="Directory of CoNLL-2003, to predict named entities.", metavar=PATH)
    ] = None,
    seeds: Seeds = 3,
    oov: UnknownWords = None,
    as_json: AsJson = False,
) -> None:
    """Evaluate vectors on similarity, analogies, tags and entities.

    For parts of speech and entities, small classifiers (probes) predict the label of a word from its vector alone.

    For example: bitcipher evaluate vectors --similarity similarity --analogies questions-words.txt

    For example: bitcipher evaluate vectors glove.6B.200d.txt --pos gum
    """
    corpora = {task: folder for task, folder in (("pos", pos), ("ner", ner)) if folder is not None}
    if similarity is None and analogies is None and not corpora:
        raise BitcipherError("Give --similarity, --analogies, --pos or --ner, or several of them.")
    unknown = parse_oov(oov)
    from bitcipher.evaluation.evaluation_sets import list_similarity_files
    from cluster.cli.display.evaluation import TableScores, evaluation_fields, print_evaluation
    from cluster.cli.display.result import print_result

    files = [file for uri in similarity or () for file in list_similarity_files(uri)]
    tasks = _read_tasks(corpora) if corpora else []
    names, tables = zip(*_read_each(vectors), strict=True)
    result = TableScores(
        names=names,
        similarity={file: [each.evaluate_word_pairs(file, oov=unknown) for each in tables] for file in files},
        analogies=[each.evaluate_word_analogies(analogies) for each in tables] if analogies else [],
        probes=_probe_each(tasks, names, tables, seeds, unknown) if tasks else [],
    )
    print_result(evaluation_fields(result), as_json, lambda: print_evaluation(result, unknown))


def _read_tasks(corpora: Mapping[str, str]) -> "list[TaskData]":
    require_extra("training", "`bitcipher evaluate` with --pos or --ner")
    from training.evaluation.probes.tasks import read_task

    return [read_task(name, folder) for name, folder in corpora.items()]


def _probe_each(
    tasks: "Sequence[TaskData]", names: Sequence[str], tables: "Sequence[CipherVectors]", seeds: int, oov: "Oov"
) -> "list[TaskProbes]":
    from cluster.cli.display.evaluation import TaskProbes
    from training.evaluation.probes.probe_scores import probe

    named = list(zip(names, tables, strict=True))
    return [
        TaskProbes(task, [(name, table.vector_size, probe(table, task, range(seeds), oov)) for name, table in named])
        for task in tasks
    ]


def _read_each(vectors: Sequence[str]) -> "Iterator[tuple[str, CipherVectors]]":
    from bitcipher.vectors.cipher_vectors import CipherVectors

    return ((redact(uri), CipherVectors.load(uri, verify=True)) for uri in vectors)

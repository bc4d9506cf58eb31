"""Commands that measure the quality of vectors: `probe` and `evaluate`."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from bitcipher.errors import BitcipherError
from bitcipher.redaction import redact
from cluster.cli.dependencies import require_extra
from cluster.cli.options import AsJson, UnknownWords, parse_oov
from cluster.metavars import PATH

if TYPE_CHECKING:
    from bitcipher.vectors.cipher_vectors import CipherVectors

VectorFiles = Annotated[
    list[str],
    typer.Argument(help="Builds, directories of vectors, or word2vec, GloVe or fastText files.", metavar=PATH),
]
Seeds = Annotated[
    int, typer.Option(min=1, help="Number of seeds. Results are means and standard deviations over the seeds.")
]


def probe(
    vectors: VectorFiles,
    *,
    task: Annotated[str, typer.Option(help="Parts of speech, or named entities.", metavar="pos|ner")],
    data: Annotated[
        str, typer.Option(help="Directory of the corpus: GUM (CoNLL-U) for pos, CoNLL-2003 for ner.", metavar=PATH)
    ],
    seeds: Seeds = 3,
    oov: UnknownWords = None,
    as_json: AsJson = False,
) -> None:
    """Train small classifiers that predict a word's part of speech or entity type from its vector alone.

    For example: bitcipher probe vectors glove.6B.200d.txt --task pos --data gum
    """
    unknown = parse_oov(oov)
    require_extra("training", "`bitcipher probe`")
    from cluster.cli.display.evaluation import print_probes, probe_fields
    from cluster.cli.display.result import print_result
    from training.evaluation.probes.tasks import read_task

    labeled = read_task(task, data)
    from training.evaluation.probes.probe_scores import (
        probe as run,  # not at the top: the import of torch takes seconds
    )

    results = [
        (name, table.vector_size, run(table, labeled, range(seeds), unknown)) for name, table in _read_each(vectors)
    ]
    print_result(probe_fields(labeled, results), as_json, lambda: print_probes(labeled, results, unknown))


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
    oov: UnknownWords = None,
    as_json: AsJson = False,
) -> None:
    """Evaluate vectors on word similarity and analogies.

    For example: bitcipher evaluate vectors --similarity similarity --analogies questions-words.txt
    """
    if similarity is None and analogies is None:
        raise BitcipherError("Give --similarity, --analogies, or both.")
    unknown = parse_oov(oov)
    from bitcipher.evaluation.evaluation_sets import list_similarity_files
    from cluster.cli.display.evaluation import TableScores, evaluation_fields, print_evaluation
    from cluster.cli.display.result import print_result

    files = [file for uri in similarity or () for file in list_similarity_files(uri)]
    names, tables = zip(*_read_each(vectors), strict=True)
    result = TableScores(
        names=names,
        similarity={file: [each.evaluate_word_pairs(file, oov=unknown) for each in tables] for file in files},
        analogies=[each.evaluate_word_analogies(analogies) for each in tables] if analogies else [],
    )
    print_result(evaluation_fields(result), as_json, lambda: print_evaluation(result, unknown))


def _read_each(vectors: Sequence[str]) -> "Iterator[tuple[str, CipherVectors]]":
    from bitcipher.vectors.cipher_vectors import CipherVectors

    return ((redact(uri), CipherVectors.load(uri, verify=True)) for uri in vectors)

"""Command that evaluates embeddings of sentences: `evaluate-sentences`."""

from typing import Annotated

import typer

from cluster.cli.dependencies import require_extra
from cluster.cli.options import CheckpointStep, ModelFolder
from cluster.cli.verbosity import with_verbosity
from cluster.metavars import PATH


@with_verbosity
def evaluate_sentences(
    model: ModelFolder,
    data: Annotated[list[str], typer.Argument(help="TSV or JSON lines of labeled sentences.", metavar=PATH)],
    *,
    out: Annotated[str, typer.Option(help="Directory of the table and the figure.", metavar=PATH)],
    test: Annotated[
        list[str] | None,
        typer.Option(help="Files of test sentences.", show_default="a fifth of the sentences", metavar=PATH),
    ] = None,
    vectors: Annotated[
        str | None,
        typer.Option(help="Vectors whose averages are evaluated, too.", show_default="none", metavar=PATH),
    ] = None,
    text_column: Annotated[str, typer.Option(help="Column of the texts.")] = "text",
    label_column: Annotated[
        list[str] | None,
        typer.Option(help="Columns of the labels at each level.", show_default="label_coarse, label_fine"),
    ] = None,
    checkpoint: CheckpointStep = None,
) -> None:
    """Measure the classes of sentences in the embeddings of an encoder, and draw the sentences.

    For example: bitcipher evaluate-sentences runs/simclr questions.jsonl --out sentences
    """
    require_extra("training", "`bitcipher evaluate-sentences`")
    from bitcipher.vectors.cipher_vectors import CipherVectors
    from cluster.cli.display.markdown import print_markdown
    from pipelines.runtime.progress import StageProgress
    from training.models.model_folder import check_model_folder
    from training.studies.class_centers.sentence_embeddings.labeled_sentences import read_sentences, split_sentences

    columns = (text_column, label_column or ["label_coarse", "label_fine"])
    sentences = read_sentences(data, *columns)
    parts = (sentences, read_sentences(test, *columns)) if test else split_sentences(sentences)
    loaded_vectors = CipherVectors.load(vectors, verify=True) if vectors else None
    if checkpoint is None:
        check_model_folder(model)
    from training.evaluation.decoding.stored_model import (
        open_model,  # not at the top: the import of torch takes seconds
    )
    from training.studies.class_centers.sentence_embeddings.evaluation import evaluate_sentences

    opened = open_model(model, checkpoint)
    with StageProgress() as progress:
        table = evaluate_sentences(*opened, loaded_vectors, *parts, out, progress)
    print_markdown(table)

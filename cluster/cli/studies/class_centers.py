"""Class centers in the layers of models (Ben-Shaul 2023)."""

from pathlib import Path
from typing import Annotated

import typer

from bitcipher.errors import BitcipherError
from cluster.cli.command_groups import group
from cluster.cli.dependencies import require_extra
from cluster.cli.interrupts import CHECKPOINTS, resumable
from cluster.cli.options import CheckpointStep, ModelFolder, Settings
from cluster.cli.verbosity import with_verbosity
from cluster.metavars import PATH

class_centers = group(__doc__)


@class_centers.command()
@with_verbosity
def layers(
    run: Annotated[str, typer.Argument(help="Folder of a run.", metavar=PATH)],
    *,
    out: Annotated[
        str, typer.Option(help="Folder for layers.png, layers.csv and layers.parquet; overwritten.", metavar=PATH)
    ],
    classes: Annotated[
        int, typer.Option(min=2, help="Number of token classes. Each of the most frequent tokens is one class.")
    ] = 100,
    sequences: Annotated[
        int, typer.Option(min=1, help="Maximum number of sequences of text, or of rows of a task, in each split.")
    ] = 256,
    task: Annotated[
        str | None,
        typer.Option(
            help="Fit linear probes too: parts of speech, or entities.", show_default="none", metavar="pos|ner"
        ),
    ] = None,
    data: Annotated[
        str | None,
        typer.Option(help="Folder of the task's corpus: GUM in CoNLL-U for pos, CoNLL-2003 for ner.", metavar=PATH),
    ] = None,
) -> None:
    """Evaluate each layer at each checkpoint of a run.

    Classes of a run of `bitcipher finetune` are the labels of its sentences. Train with --set
    loop.save_total_limit=null to keep all checkpoints.

    For example: bitcipher study class-centers layers runs/random-1 --out layers
    """
    if (task is None) != (data is None):
        raise BitcipherError("A linear probe needs both --task and --data.")
    require_extra("training", "`bitcipher study class-centers`")
    from cluster.cli.display.console import OUT
    from pipelines.runtime.progress import StageProgress
    from training.loop.checkpoint_folders import latest_checkpoint
    from training.loop.run_store import copying_run

    with copying_run(run, with_checkpoints=True) as folder, StageProgress() as progress:
        latest_checkpoint(folder)  # raise before torch is loaded, if it is no run
        from training.studies.class_centers.layer_analysis.report import write_layer_report

        write_layer_report(folder, out, classes, sequences, (task, data) if task and data else None, progress)
    OUT.print(f"Wrote layers.png, layers.csv and layers.parquet to {out}.")


@class_centers.command()
@with_verbosity
def sentences(
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
    """Measure and draw the classes of sentences in an encoder.

    For example: bitcipher study class-centers sentences runs/simclr questions.jsonl --out sentences
    """
    require_extra("training", "`bitcipher study class-centers`")
    from bitcipher.vectors.cipher_vectors import CipherVectors
    from cluster.cli.display.markdown import print_markdown
    from pipelines.runtime.progress import StageProgress
    from training.models.model_folder import check_model_folder
    from training.studies.class_centers.sentence_embeddings.labeled_sentences import read_sentences, split_sentences

    columns = (text_column, label_column or ["label_coarse", "label_fine"])
    labeled = read_sentences(data, *columns)
    parts = (labeled, read_sentences(test, *columns)) if test else split_sentences(labeled)
    loaded_vectors = CipherVectors.load(vectors, verify=True) if vectors else None
    if checkpoint is None:
        check_model_folder(model)
    from training.evaluation.decoding.stored_model import open_model
    from training.studies.class_centers.sentence_embeddings.evaluation import evaluate_sentences

    opened = open_model(model, checkpoint)
    with StageProgress() as progress:
        table = evaluate_sentences(*opened, loaded_vectors, *parts, out, progress)
    print_markdown(table)


@class_centers.command()
@with_verbosity
def compare(
    model: ModelFolder,
    *,
    data: Annotated[str, typer.Option(help="Folder with glue and textclass; see the study's README.", metavar=PATH)],
    out: Annotated[
        str, typer.Option(help="Folder of all runs, centers.md and centers.png: new, or to resume.", metavar=PATH)
    ],
    task: Annotated[
        list[str] | None,
        typer.Option(help="Task. Repeat for several.", show_default="all", metavar="rte|mrpc|cola|trec|clinc150"),
    ] = None,
    weights: Annotated[
        list[str] | None,
        typer.Option(
            help="Kind of weights: pre-trained, from scratch, svsl or random targets. Repeat for several.",
            show_default="all",
            metavar="KIND",
        ),
    ] = None,
    shape: Annotated[
        list[str] | None,
        typer.Option(help="Another shape from scratch, such as 64x4. Repeat for several.", metavar="WIDTHxLAYERS"),
    ] = None,
    rows: Annotated[int, typer.Option(min=1, help="Maximum number of training rows.")] = 2500,
    epochs: Annotated[int, typer.Option(min=1, help="Epochs of each run.")] = 10,
    samples: Annotated[int, typer.Option(min=1, help="Maximum number of rows of each part for a mismatch.")] = 1000,
    seeds: Annotated[int, typer.Option(min=1, help="Number of runs for each kind of weights.")] = 1,
    svsl_weight: Annotated[float, typer.Option(min=0, help="Weight of SVSL's term in the loss.")] = 0.001,
    settings: Settings = None,
) -> None:
    """Compare classifiers: pre-trained, from scratch, with SVSL, on random targets.

    For example: bitcipher study class-centers compare runs/simclr --data data --task trec --epochs 1 --out centers
    """
    require_extra("training", "`bitcipher study class-centers`")
    from cluster.cli.display.markdown import print_markdown
    from pipelines.runtime.progress import StageProgress
    from training.models.model_folder import check_model_folder
    from training.studies.class_centers.comparison import TASKS, WEIGHTS, CenterOptions, compare_class_centers

    options = CenterOptions(
        tasks=task or TASKS,
        weights=weights or WEIGHTS,
        shapes=shape or (),
        rows=rows,
        epochs=epochs,
        samples=samples,
        seeds=seeds,
        svsl_weight=svsl_weight,
        settings=settings or (),
    )
    check_model_folder(model)
    with resumable(CHECKPOINTS), StageProgress() as progress:
        table = compare_class_centers(model, Path(data), Path(out).resolve(), options, progress)
    print_markdown(table)

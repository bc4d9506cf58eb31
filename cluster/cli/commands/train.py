"""Commands that train models and analyze training runs: `train`, `compare` and `layers`."""

from typing import Annotated

import typer

from bitcipher.redaction import redact
from bitcipher.terminal import print_text
from cluster.cli.dependencies import require_extra
from cluster.cli.interrupts import CHECKPOINTS, resumable
from cluster.cli.options import AsJson, Settings, Workers
from cluster.cli.verbosity import with_verbosity
from cluster.metavars import NAME_OR_PATH, PATH


@with_verbosity
def train(
    recipe: Annotated[
        str, typer.Argument(help="YAML file, or name of a recipe in training/runs/recipes.", metavar=NAME_OR_PATH)
    ],
    *,
    out: Annotated[str, typer.Option(help="Folder of the run: a path that all workers share, or a URI.", metavar=PATH)],
    settings: Settings = None,
    prepared: Annotated[
        str | None,
        typer.Option(
            help="Folder of tokenized text and vectors, which several runs can share.",
            show_default="prepared, next to --out",
            metavar=PATH,
        ),
    ] = None,
    workers: Workers = 0,
) -> None:
    """Train a language model from random or cipher embeddings. Re-run the same command to resume.

    For example: bitcipher train figure-4-random --out runs/random-1 --set text.sources=[corpus] --set seed=1
    """
    require_extra("training", "`bitcipher train`")
    from cluster.cli.display.console import OUT
    from cluster.cli.display.markdown import print_markdown
    from training import pretrain

    with resumable(CHECKPOINTS):
        result = pretrain(recipe, out, settings=settings or [], prepared=prepared, workers=workers)
    for remark in result.remarks:
        print_text(remark)
    if result.text_pairs:
        print_markdown(result.text_pairs.markdown())
    OUT.print(f"The run is in {redact(result.folder)}: metrics.jsonl, and the model in {result.model_name}.")


def compare(
    runs: Annotated[
        list[str],
        typer.Argument(help="Folders of runs, finished or not; the first is the baseline.", metavar=PATH),
    ],
    *,
    out: Annotated[
        str, typer.Option(help="Folder for curves.png, lead.png, curves.html and table.md; overwritten.", metavar=PATH)
    ],
    as_json: AsJson = False,
) -> None:
    """Plot runs side by side, and report how much sooner each reaches the final loss of the first run.

    Runs of one recipe with different seeds are plotted as one curve, with a band from the minimum to the maximum.
    For example: bitcipher compare runs/random-1 runs/cipher-1 --out comparison
    """
    require_extra("training", "`bitcipher compare`")
    from cluster.cli.display.markdown import print_markdown
    from cluster.cli.display.result import print_result
    from training.comparison.curves.comparison import compare_runs

    comparison = compare_runs(runs, out)
    groups = {"groups": comparison.summaries()}
    print_result(groups, as_json, lambda: print_markdown(comparison.markdown()))


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
    """Evaluate each layer at each checkpoint of a run: predictions, token classes, and linear probes.

    Classes of a run of `bitcipher finetune` are the labels of its sentences. Train with --set
    loop.save_total_limit=null to keep all checkpoints.

    For example: bitcipher layers runs/random-1 --out layers
    """
    from bitcipher.errors import BitcipherError

    if (task is None) != (data is None):
        raise BitcipherError("A linear probe needs both --task and --data.")
    require_extra("training", "`bitcipher layers`")
    from cluster.cli.display.console import OUT
    from pipelines.runtime.progress import StageProgress
    from training.loop.checkpoint_folders import latest_checkpoint
    from training.loop.run_store import copying_run

    with copying_run(run, with_checkpoints=True) as folder, StageProgress() as progress:
        latest_checkpoint(folder)  # raise before torch is loaded, if it is no run
        from training.studies.class_centers.layer_analysis.report import write_layer_report

        write_layer_report(folder, out, classes, sequences, (task, data) if task and data else None, progress)
    OUT.print(f"Wrote layers.png, layers.csv and layers.parquet to {out}.")

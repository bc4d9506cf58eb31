"""Command that evaluates models on pairs of texts: `evaluate-text-pairs`."""

from typing import Annotated

import typer

from cluster.cli.dependencies import require_extra
from cluster.cli.options import CheckpointStep, ModelFolder
from cluster.cli.verbosity import with_verbosity
from cluster.metavars import PATH


@with_verbosity
def evaluate_text_pairs(
    model: ModelFolder,
    pairs: Annotated[list[str], typer.Argument(help="TSV or JSON lines of test pairs.", metavar=PATH)],
    *,
    source_column: Annotated[
        str | None,
        typer.Option(
            help="Column of the source texts: a field, a name in the first line of a TSV, or the number of a column, "
            "from 1, of a TSV without names.",
            show_default="that of the run, else source",
        ),
    ] = None,
    target_column: Annotated[
        str | None, typer.Option(help="Column of the target texts.", show_default="that of the run, else target")
    ] = None,
    train: Annotated[
        list[str] | None,
        typer.Option(
            help="Files of training pairs, for the nearest-neighbor baseline and the number of leaked pairs.",
            show_default="none",
            metavar=PATH,
        ),
    ] = None,
    predictions: Annotated[
        str | None,
        typer.Option(help="JSON-lines file for the generated texts; overwritten.", show_default="none", metavar=PATH),
    ] = None,
    max_new_tokens: Annotated[int, typer.Option(min=1, help="Maximum number of tokens of a generated text.")] = 128,
    checkpoint: CheckpointStep = None,
) -> None:
    """Score the texts that an encoder-decoder generates: exact match, BLEU and chrF, beside baselines.

    For example: bitcipher evaluate-text-pairs runs/pairs pairs/test.tsv --train pairs/train.tsv
    """
    require_extra("translation", "`bitcipher evaluate-text-pairs`")
    from bitcipher.errors import BitcipherError
    from cluster.cli.display.markdown import print_markdown
    from pipelines.runtime.progress import StageProgress
    from training.data.table_rows import list_tables
    from training.data.text_pairs import read_text_pairs
    from training.models.model_folder import check_model_folder
    from training.runs.run_files import read_pair_columns

    of_run = read_pair_columns(model)
    columns = (source_column or of_run[0], target_column or of_run[1])
    test = read_text_pairs(list_tables(pairs), *columns)
    if not test:
        raise BitcipherError(f"{', '.join(pairs)} has no pairs of texts; provide some.")
    trained = read_text_pairs(list_tables(train), *columns) if train else []
    if checkpoint is None:
        check_model_folder(model)
    from training.evaluation.decoding.stored_model import (
        open_model,  # not at the top: the import of torch takes seconds
    )
    from training.evaluation.text_pairs.evaluation import evaluate_text_pairs
    from training.loop.distributed import World

    loaded, tokenizer = open_model(model, checkpoint)
    loaded = loaded.to(World.current("auto").device)
    with StageProgress() as progress:
        scores = evaluate_text_pairs(loaded, tokenizer, test, trained, max_new_tokens, predictions, progress)
    print_markdown(scores.markdown())

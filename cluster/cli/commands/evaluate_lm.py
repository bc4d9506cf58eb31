"""Command that evaluates language models: `evaluate-lm`."""

from typing import Annotated

import typer

from bitcipher.terminal import print_text
from cluster.cli.dependencies import require_extra
from cluster.cli.options import CheckpointStep, ModelFolder
from cluster.metavars import PATH


def evaluate_lm(
    model: ModelFolder,
    *,
    pairs: Annotated[
        str, typer.Option(help="JSON-lines file of minimal pairs as in BLiMP, or a folder.", metavar=PATH)
    ],
    checkpoint: CheckpointStep = None,
) -> None:
    """Score a language model on minimal pairs: how often is the grammatical sentence the more likely one?

    For example: bitcipher evaluate-lm runs/random-1 --pairs blimp
    """
    require_extra("training", "`bitcipher evaluate-lm`")
    from cluster.cli.display.markdown import print_markdown
    from training.evaluation.minimal_pairs.pair_files import read_pairs
    from training.models.model_folder import check_model_folder

    read = read_pairs(pairs)
    if checkpoint is None:
        check_model_folder(model)
    from bitcipher.files.markdown import format_table
    from training.evaluation.decoding.stored_model import (
        open_model,  # not at the top: the import of torch takes seconds
    )
    from training.evaluation.minimal_pairs.pair_accuracy import evaluate_pairs

    results = evaluate_pairs(*open_model(model, checkpoint), read)
    rows = [
        [
            result.phenomenon,
            f"{result.pairs:,}",
            f"{result.accuracy:.1f}",
            f"{result.interval[0]:.1f} to {result.interval[1]:.1f}",
        ]
        for result in results
    ]
    print_markdown(format_table(["phenomenon", "pairs", "accuracy, %", "95 % interval"], rows))
    if ties := results[-1].ties:
        print_text(f"Pairs with the same tokens, of unknown words for example, count as wrong: {ties:,}.")

"""Command that evaluates language models by prompts: `evaluate-prompts`."""

from typing import Annotated

import typer

from bitcipher.terminal import print_text
from cluster.cli.dependencies import require_extra
from cluster.cli.options import CheckpointStep, ModelFolder
from cluster.metavars import NAME_OR_PATH, PATH


def evaluate_prompts(
    model: ModelFolder,
    data: Annotated[list[str], typer.Argument(help="TSV or JSON lines of labeled texts.", metavar=PATH)],
    *,
    template: Annotated[
        str,
        typer.Option(
            help="YAML file, or name of a built-in template: trec, trec-chain-of-thought, sst2 or rte.",
            metavar=NAME_OR_PATH,
        ),
    ],
    train: Annotated[
        list[str] | None,
        typer.Option(help="Files of labeled texts to draw the shots from.", show_default="none", metavar=PATH),
    ] = None,
    shots: Annotated[
        list[int] | None,
        typer.Option(min=0, help="Number of examples in each prompt. Can be given several times.", show_default="0"),
    ] = None,
    seeds: Annotated[int, typer.Option(min=1, help="Number of seeds, each of which draws other shots.")] = 3,
    checkpoint: CheckpointStep = None,
) -> None:
    """Score a language model by prompts for labels, with 0, 1 or more examples, beside the most frequent label.

    For example: bitcipher evaluate-prompts runs/random-1 questions.tsv --template questions.yaml
    """
    require_extra("training", "`bitcipher evaluate-prompts`")
    from cluster.cli.display.markdown import print_markdown
    from training.evaluation.prompting.label_template import find_template, read_template
    from training.evaluation.prompting.labeled_rows import read_labeled_rows
    from training.models.model_folder import check_model_folder

    read = read_template(find_template(template))
    rows, trained = read_labeled_rows(data, read), read_labeled_rows(train, read) if train else []
    if checkpoint is None:
        check_model_folder(model)
    from bitcipher.files.markdown import format_table
    from training.evaluation.decoding.stored_model import (
        open_model,  # not at the top: the import of torch takes seconds
    )
    from training.evaluation.prompting.prompt_accuracy import evaluate_prompts, majority_accuracy
    from training.loop.distributed import World

    loaded, tokenizer = open_model(model, checkpoint)
    loaded = loaded.to(World.current("auto").device)
    results = evaluate_prompts(loaded, tokenizer, read, rows, trained, shots or [0], seeds)
    lines = [
        [str(result.shots), f"{_mean(result.accuracies):.1f}", ", ".join(f"{value:.1f}" for value in result.accuracies)]
        for result in results
    ]
    lines.append(["most frequent label", f"{majority_accuracy(read, rows, trained):.1f}", ""])
    print_markdown(format_table(["shots", "accuracy, %", "of each seed"], lines))
    if cut := sum(result.cut_prompts for result in results):
        print_text(f"Prompts that are longer than the model reads, whose beginning was cut: {cut:,}.")


def _mean(values: tuple[float, ...]) -> float:
    return sum(values) / len(values)

"""Evaluate language models on minimal pairs, prompts or texts."""

from typing import Annotated

import typer

from bitcipher.errors import BitcipherError
from bitcipher.terminal import print_text
from cluster.cli.command_groups import group
from cluster.cli.dependencies import require_extra
from cluster.cli.options import CheckpointStep, ModelFolder
from cluster.cli.verbosity import with_verbosity
from cluster.metavars import NAME_OR_PATH, PATH

evaluate_lm = group(__doc__)


@evaluate_lm.command()
def pairs(
    model: ModelFolder,
    data: Annotated[
        str, typer.Argument(help="JSON-lines file of minimal pairs as in BLiMP, or a folder.", metavar=PATH)
    ],
    checkpoint: CheckpointStep = None,
) -> None:
    """Score a language model on minimal pairs.

    The score is how often the grammatical sentence of a pair is the more likely one.

    For example: bitcipher evaluate-lm pairs runs/random-1 blimp
    """
    require_extra("training", "`bitcipher evaluate-lm`")
    from cluster.cli.display.markdown import print_markdown
    from training.evaluation.minimal_pairs.pair_files import read_pairs
    from training.models.model_folder import check_model_folder

    read = read_pairs(data)
    if checkpoint is None:
        check_model_folder(model)
    from bitcipher.files.markdown import format_table
    from training.evaluation.decoding.stored_model import open_model
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


@evaluate_lm.command()
def prompts(
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
    """Score a language model by prompts for labels.

    Prompts have 0, 1 or more examples. The score of the most frequent label is shown beside.

    For example: bitcipher evaluate-lm prompts runs/random-1 questions.tsv --template questions.yaml
    """
    require_extra("training", "`bitcipher evaluate-lm`")
    from cluster.cli.display.markdown import print_markdown
    from training.evaluation.prompting.label_template import find_template, read_template
    from training.evaluation.prompting.labeled_rows import read_labeled_rows
    from training.models.model_folder import check_model_folder

    read = read_template(find_template(template))
    rows, trained = read_labeled_rows(data, read), read_labeled_rows(train, read) if train else []
    if checkpoint is None:
        check_model_folder(model)
    from bitcipher.files.markdown import format_table
    from training.evaluation.decoding.stored_model import open_model
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


@evaluate_lm.command()
@with_verbosity
def texts(
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
    """Score the texts that an encoder-decoder generates.

    The scores are exact match, BLEU and chrF, beside baselines.

    For example: bitcipher evaluate-lm texts runs/pairs pairs/test.tsv --train pairs/train.tsv
    """
    require_extra("translation", "`bitcipher evaluate-lm texts`")
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
    from training.evaluation.decoding.stored_model import open_model
    from training.evaluation.text_pairs.evaluation import evaluate_text_pairs
    from training.loop.distributed import World

    loaded, tokenizer = open_model(model, checkpoint)
    loaded = loaded.to(World.current("auto").device)
    with StageProgress() as progress:
        scores = evaluate_text_pairs(loaded, tokenizer, test, trained, max_new_tokens, predictions, progress)
    print_markdown(scores.markdown())


def _mean(values: tuple[float, ...]) -> float:
    return sum(values) / len(values)

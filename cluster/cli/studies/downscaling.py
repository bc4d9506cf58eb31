"""Small language models and their laws (Deshpande 2023)."""

import re
from typing import Annotated, Any

import typer

from bitcipher.errors import BitcipherError
from bitcipher.files import storage
from bitcipher.redaction import redact
from bitcipher.terminal import print_text
from cluster.cli.command_groups import group
from cluster.cli.dependencies import require_extra
from cluster.cli.interrupts import CHECKPOINTS, resumable
from cluster.cli.options import (
    AutoWorkers,
    ConcurrentTrials,
    Documents,
    GpusPerTrial,
    Settings,
    option_name,
    record_options,
)
from cluster.cli.verbosity import with_verbosity
from cluster.metavars import KIND_AND_PATH, NAME_OR_PATH, PATH
from pipelines.ingest.read_options import ReadOptions
from training.studies.downscaling.filter.options import FilterOptions

_SECONDS = {"m": 60, "h": 3600, "d": 86400}
# Bytes of memory per worker of the filter: for a document of several megabytes, the tokenizer's cache, and counts of
# unknown words.
_WORKER_BYTES = 1500 << 20

downscaling = group(__doc__)


@downscaling.command()
@with_verbosity
def sweep(
    recipe: Annotated[
        str,
        typer.Argument(
            help="YAML file of the study, or the name of a built-in study.",
            metavar=NAME_OR_PATH,
        ),
    ],
    *,
    out: Annotated[
        str,
        typer.Option(
            help="Directory or URI of the study, visible to all workers: new, or of a study to resume.", metavar=PATH
        ),
    ],
    settings: Settings = None,
    scale: Annotated[
        float | None,
        typer.Option(
            help="Fraction of the recipe's training sequences, such as 0.01. The numbers of tokens, shapes and seeds "
            "shrink with it.",
            show_default="the whole study",
        ),
    ] = None,
    budget: Annotated[
        str | None,
        typer.Option(
            help="Shrink the study to about this time on this machine: 30m, 2h or 1d.", show_default="no limit"
        ),
    ] = None,
    max_concurrent_trials: ConcurrentTrials = 0,
    gpus: GpusPerTrial = 0,
) -> None:
    """Train many small language models, and write a report. An interrupted study resumes.

    Filters a corpus by a vocabulary, trains a tokenizer and small RoBERTa models of many shapes, fine-tunes them on
    GLUE if the recipe names its folder, and compares them in OUT/report/report.html. Run the command again with more
    shapes, seeds or tasks to run only the additional trials.

    For example: bitcipher sweep downscaling-small --out study --set sources=[corpus]
    """
    require_extra("training", "`bitcipher sweep`")
    from cluster.cli.display.console import OUT
    from pipelines.runtime.progress import StageProgress
    from training.search.trials import TrialResources
    from training.studies.downscaling.sweep.options import find_study, read_study

    if scale is not None and budget is not None:
        raise BitcipherError("Give --scale or --budget, not both: a budget determines the scale.")
    folder, resources = storage.absolute(out), TrialResources(max_concurrent_trials, gpus)
    seconds = None if budget is None else _seconds(budget)
    study = read_study(find_study(recipe), settings or [])
    from training.studies.downscaling.sweep.study import (
        launch_study,  # not at the top: the import of torch takes seconds
    )

    with resumable(CHECKPOINTS), StageProgress() as progress:
        report = launch_study(study, folder, scale, seconds, resources, progress)
    OUT.print(f"Report: {report}, with figures and tables in the same directory. All runs are in {redact(folder)}.")


@downscaling.command()
def laws(
    evaluations: Annotated[
        str, typer.Argument(help="CSV file of the evaluations that the study's authors published.", metavar=PATH)
    ],
    *,
    out: Annotated[str, typer.Option(help="Directory of fits.md and laws.png.", metavar=PATH)],
) -> None:
    """Fit the power laws of the study to the evaluations that its authors published (Deshpande et al. 2023).

    For example: bitcipher study downscaling laws evaluations.csv --out downscaling
    """
    require_extra("training", "`bitcipher study downscaling`")
    from cluster.cli.display.markdown import print_markdown
    from training.studies.downscaling.laws import reproduce_downscaling

    print_markdown(reproduce_downscaling(evaluations, storage.absolute(out)))


@downscaling.command()
@with_verbosity
@record_options(FilterOptions, only=FilterOptions.model_fields.keys() - {"spans_only", "sentences_only"})
def filter(
    option_values: dict[str, Any],
    sources: Documents,
    *,
    out: Annotated[
        str,
        typer.Option(help="Directory of the filtered corpus: new, or of an interrupted command.", metavar=PATH),
    ],
    vocabulary: Annotated[
        str | None,
        typer.Option(
            help="File with one word per line, or CSV file with a column `word`.",
            show_default="with --top, words of the sources",
            metavar=PATH,
        ),
    ] = None,
    spans_only: Annotated[
        list[str] | None,
        typer.Option(help="Sources of which only spans are kept. Repeat for several.", metavar=PATH),
    ] = None,
    sentences_only: Annotated[
        list[str] | None,
        typer.Option(help="Sources of which only sentences are kept. Repeat for several.", metavar=PATH),
    ] = None,
    workers: AutoWorkers = "auto",
) -> None:
    """Keep the spans and sentences of a corpus whose words are all in a vocabulary. An interrupted run resumes.

    For example: bitcipher study downscaling filter enwiki --vocabulary words.txt --out filtered
    """
    from cluster.cli.studies.filtered_corpus import print_filtered_corpus
    from pipelines.runtime.open_runtime import open_runtime
    from pipelines.runtime.progress import StageProgress
    from training.studies.downscaling.filter.filter_corpus import filter_corpus

    levels = {"spans_only": tuple(spans_only or ()), "sentences_only": tuple(sentences_only or ())}
    options = FilterOptions.parse(option_values | levels, name=option_name)
    with (
        resumable("filtered sources"),
        StageProgress() as progress,
        open_runtime(workers, _WORKER_BYTES) as runtime,
    ):
        manifest = filter_corpus(sources, vocabulary, out, options, runtime, progress)
    print_filtered_corpus(manifest, out)


@downscaling.command()
@with_verbosity
@record_options(ReadOptions)
def choose_tokenizer(
    option_values: dict[str, Any],
    sources: Documents,
    *,
    out: Annotated[
        str,
        typer.Option(help="Directory of the tokenizers: new, or of an earlier run to resume or extend.", metavar=PATH),
    ],
    kind: Annotated[
        list[str] | None,
        typer.Option(
            help="bpe (as in RoBERTa), wordpiece (as in BERT) or unigram (as in T5). Repeat for several.",
            show_default="all three",
            metavar="bpe|wordpiece|unigram",
        ),
    ] = None,
    size: Annotated[
        list[int] | None,
        typer.Option(
            help="Vocabulary size, for each kind. Repeat for several.",
            show_default="bpe 18000 19000 20000, wordpiece 16000 17000 18000, unigram 9000 10000 11000",
        ),
    ] = None,
    reference: Annotated[
        list[str] | None,
        typer.Option(
            help="Reference tokenizer of a kind: a tokenizer.json, or the vocab.txt of BERT. The size with the most "
            "similar number of tokens per word is selected. Required for a kind with several sizes.",
            metavar=KIND_AND_PATH,
        ),
    ] = None,
    words: Annotated[
        str | None,
        typer.Option(
            help="YAML file of words with their sub-tokens, such as `cooking: cook, ing`.",
            show_default="13 words of Deshpande et al. 2023",
            metavar=PATH,
        ),
    ] = None,
    examples: Annotated[int, typer.Option(min=1, help="Number of spans of 110 words to count tokens in.")] = 5000,
    lowercase: Annotated[bool, typer.Option(help="Lowercase text before tokenization.")] = False,
) -> None:
    """Train tokenizers of several kinds and sizes, and select one. An interrupted run resumes.

    For example: bitcipher study downscaling choose-tokenizer enwiki --kind bpe --size 9000 --out tokenizers
    """
    require_extra("training", "`bitcipher study downscaling`")
    from cluster.cli.display.markdown import print_markdown
    from pipelines.ingest.sources import list_sources
    from pipelines.runtime.progress import StageProgress
    from training.studies.downscaling.tokenizer_selection.choose_tokenizer import ChoiceOptions
    from training.studies.downscaling.tokenizer_selection.choose_tokenizer import choose_tokenizer as run
    from training.studies.downscaling.tokenizer_selection.published_scores import candidate_sizes
    from training.studies.downscaling.tokenizer_selection.references import parse_references

    sizes = candidate_sizes(kind or (), size or ())
    options = ChoiceOptions(
        sizes=sizes, references=parse_references(reference or []), words=words, examples=examples, lowercase=lowercase
    )
    reading = ReadOptions.parse(option_values, name=option_name)
    with resumable("trained tokenizers"), StageProgress() as progress:
        listed = list_sources(sources, reading.format, progress.say, list_protocols=reading.list_protocols)
        table = run(listed, reading, out, options, progress)
    print_markdown(f"{table}\n")
    print_text(f"{out} holds the selected tokenizer.json, choice.json, table.md and all candidates.")


def _seconds(text: str) -> float:
    """Return the length of a time such as 30m, 2h or 1d."""
    match = re.fullmatch(r"(\d+(?:\.\d+)?)([mhd])", text)
    if not match or float(match[1]) == 0:
        raise BitcipherError(
            f"`--budget` must be a number of minutes, hours or days such as 30m, 2h or 1d, got {text!r}."
        )
    return float(match[1]) * _SECONDS[match[2]]

"""Command that selects a tokenizer for a corpus: `choose-tokenizer`."""

from typing import Annotated, Any

import typer

from bitcipher.terminal import print_text
from cluster.cli.dependencies import require_extra
from cluster.cli.interrupts import resumable
from cluster.cli.options import option_name, record_options
from cluster.cli.verbosity import with_verbosity
from cluster.metavars import KIND_AND_PATH, PATH
from pipelines.ingest.read_options import ReadOptions


@with_verbosity
@record_options(ReadOptions)
def choose_tokenizer(
    option_values: dict[str, Any],
    sources: Annotated[
        list[str],
        typer.Argument(help="Files, directories or globs of text, JSON lines, Parquet or web archives.", metavar=PATH),
    ],
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

    For example: bitcipher choose-tokenizer enwiki --kind bpe --reference bpe=roberta.json --out tokenizers
    """
    require_extra("training", "`bitcipher choose-tokenizer`")
    from cluster.cli.display.markdown import print_markdown
    from pipelines.ingest.sources import list_sources
    from pipelines.runtime.progress import StageProgress
    from training.studies.downscaling.tokenizer_selection.choose_tokenizer import ChoiceOptions, choose_tokenizer
    from training.studies.downscaling.tokenizer_selection.published_scores import candidate_sizes
    from training.studies.downscaling.tokenizer_selection.references import parse_references

    sizes = candidate_sizes(kind or (), size or ())
    options = ChoiceOptions(
        sizes=sizes, references=parse_references(reference or []), words=words, examples=examples, lowercase=lowercase
    )
    reading = ReadOptions.parse(option_values, name=option_name)
    with resumable("trained tokenizers"), StageProgress() as progress:
        listed = list_sources(sources, reading.format, progress.say, list_protocols=reading.list_protocols)
        table = choose_tokenizer(listed, reading, out, options, progress)
    print_markdown(f"{table}\n")
    print_text(f"{out} holds the selected tokenizer.json, choice.json, table.md and all candidates.")

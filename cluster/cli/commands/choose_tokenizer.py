"""The command that chooses a tokenizer for a corpus: `choose-tokenizer`."""

from typing import Annotated

import typer

from cluster.cli.dependencies import require
from cluster.cli.interrupts import resumable
from cluster.cli.options import PATH, Document, Field, Format


def choose_tokenizer(
    sources: Annotated[
        list[str], typer.Argument(help="Files, folders or globs of text, JSON lines, Parquet or WET.", metavar=PATH)
    ],
    out: Annotated[
        str, typer.Option(help="Folder of tokenizers, new or to go on with, or to add others to.", metavar=PATH)
    ] = ...,
    kind: Annotated[
        list[str] | None,
        typer.Option(
            help="bpe (as RoBERTa has it), wordpiece (as BERT) or unigram (as T5). Repeat it for several.",
            show_default="all three",
        ),
    ] = None,
    size: Annotated[
        list[int] | None,
        typer.Option(
            help="Tokens in all, of each kind. Repeat it for several.",
            show_default="bpe 18000 19000 20000, wordpiece 16000 17000 18000, unigram 9000 10000 11000, as the paper",
        ),
    ] = None,
    reference: Annotated[
        list[str] | None,
        typer.Option(
            help="The tokenizer.json whose word-split ratio a kind is to meet, for each kind of several sizes.",
            metavar=f"KIND={PATH}",
        ),
    ] = None,
    words: Annotated[
        str | None,
        typer.Option(
            help="Words with their sub-tokens, lines such as `cooking: cook, ing`.",
            show_default="13 words of the paper",
            metavar=PATH,
        ),
    ] = None,
    examples: Annotated[int, typer.Option(min=1, help="Runs of 110 words that are drawn to measure on.")] = 5000,
    format: Format = None,
    document: Document = None,
    field: Field = None,
    lowercase: Annotated[bool, typer.Option(help='"The" and "the" are the same to the tokenizers.')] = False,
) -> None:
    """Train tokenizers of several kinds and sizes, and choose the one that cuts words best. A stopped command goes on.

    For example: bitcipher choose-tokenizer enwiki --kind bpe --reference bpe=roberta.json --out tokenizers
    """
    require("Choosing a tokenizer", "sentencepiece")
    from pipelines.ingest.readers import ReadOptions
    from pipelines.ingest.sources import list_sources
    from pipelines.runtime.progress import StageProgress
    from training.tokenizer_selection import candidate_sizes, references_of
    from training.tokenizer_selection.choose_tokenizer import ChoiceOptions, choose_tokenizer

    sizes = candidate_sizes(kind or (), size or ())
    options = ChoiceOptions(sizes, references_of(reference or []), words, examples, lowercase)
    reading = ReadOptions(**{k: v for k, v in (("document", document), ("field", field)) if v is not None})
    with resumable("What is trained is kept"), StageProgress() as progress:
        told = choose_tokenizer(list_sources(sources, format), reading, out, options, progress)
    print(f"{told}\n{out} holds tokenizer.json, which was chosen, choice.json, table.md and all candidates.")

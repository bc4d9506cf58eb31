"""Embeddings from bytes (Rodriguez Perez 2023)."""

from typing import Annotated, Any

import typer

from bitcipher.errors import BitcipherError
from bitcipher.files import storage
from bitcipher.redaction import redact
from cluster.cli.command_groups import group
from cluster.cli.dependencies import require_extra
from cluster.cli.interrupts import resumable
from cluster.cli.options import ModelFolder
from cluster.cli.verbosity import with_verbosity
from cluster.metavars import PATH, SETTING

AlignmentSettings = Annotated[
    list[str] | None,
    typer.Option("--set", help="Change an option of the alignment, such as epochs=20.", metavar=SETTING),
]

byte_embeddings = group(__doc__)


@byte_embeddings.command()
@with_verbosity
def align(
    model: ModelFolder,
    *,
    out: Annotated[str, typer.Option(help="New directory of the network.", metavar=PATH)],
    settings: AlignmentSettings = None,
) -> None:
    """Train a network to compute the embeddings of a model's tokens from their bytes, and of any other string.

    All options, such as size=small or loss=cosine, are in training/studies/byte_embeddings/README.md.

    For example: bitcipher study byte-embeddings align runs/random-1 --out bytes --set size=small --set epochs=20
    """
    require_extra("training", "`bitcipher study byte-embeddings`")
    from bitcipher.files.settings import apply_settings
    from pipelines.runtime.progress import StageProgress
    from training.models.model_folder import check_model_folder
    from training.studies.byte_embeddings.options import AlignmentOptions

    values: dict[str, Any] = {}
    options = AlignmentOptions.parse(values, apply_settings(values, "the options of the alignment", settings or []))
    check_model_folder(model)
    storage.check_new(out)
    from cluster.cli.display.console import OUT
    from training.evaluation.decoding.stored_model import open_model
    from training.models.parts import input_embeddings
    from training.studies.byte_embeddings.alignment import align as train_network
    from training.studies.byte_embeddings.alignment import aligned_tokens
    from training.studies.byte_embeddings.stored_embeddings import save_byte_embeddings, table_digest

    teacher, tokenizer = open_model(model)
    tokens = aligned_tokens(tokenizer)
    rows = input_embeddings(teacher).weight[list(tokens.values())]
    with StageProgress() as progress:
        bar = progress.begin("align", options.epochs)
        embeddings = train_network(
            rows, list(tokens), options, lambda loss: progress.advance(bar, 1, f"loss {loss:.4f}")
        )
        progress.end(bar)
    save_byte_embeddings(embeddings, storage.absolute(out), table_digest(list(tokens), rows))
    OUT.print(f"{redact(out)} holds the network, which gives {len(tokens):,} tokens their vectors from bytes.")


@byte_embeddings.command()
@with_verbosity
def table(
    run: Annotated[str, typer.Argument(help="Run of `bitcipher train` with a masked objective.", metavar=PATH)],
    *,
    text: Annotated[
        list[str], typer.Option(help="Source of text to evaluate on. Repeat for several texts.", metavar=PATH)
    ],
    out: Annotated[
        str,
        typer.Option(help="Directory of table.md, the figures and the networks: new, or to resume.", metavar=PATH),
    ],
    size: Annotated[
        list[str] | None,
        typer.Option(help="Size of the networks: small or, repeated, both.", show_default="both", metavar="small|big"),
    ] = None,
    loss: Annotated[
        list[str] | None,
        typer.Option(help="Loss of the networks. Repeat for several losses.", show_default="all six", metavar="NAME"),
    ] = None,
    eval_sequences: Annotated[int, typer.Option(min=2, help="Maximum number of examples of each text.")] = 1000,
    settings: AlignmentSettings = None,
) -> None:
    """Replace the embeddings of a BERT by networks over bytes, and compare its accuracy (Rodriguez Perez et al. 2023).

    For example: bitcipher study byte-embeddings table runs/bert --text enwiki --out table-2 --size small
    """
    require_extra("training", "`bitcipher study byte-embeddings`")
    from cluster.cli.display.markdown import print_markdown
    from pipelines.runtime.progress import StageProgress
    from training.studies.byte_embeddings.options import LOSSES, SIZES

    sizes, losses = (list(dict.fromkeys(chosen)) for chosen in (size or SIZES, loss or LOSSES))
    for name, chosen, known in (("size", sizes, SIZES), ("loss", losses, LOSSES)):
        if wrong := next((each for each in chosen if each not in known), None):
            raise BitcipherError(f"There is no {name} {wrong!r} of byte embeddings: choose from {', '.join(known)}.")
    from training.studies.byte_embeddings.reproduction import reproduce_byte_embeddings

    with resumable("trained networks"), StageProgress() as progress:
        report = reproduce_byte_embeddings(
            storage.absolute(run), text, storage.absolute(out), sizes, losses, settings or [], eval_sequences, progress
        )
    print_markdown(report)

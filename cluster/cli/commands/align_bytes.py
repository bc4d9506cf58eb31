"""Command that trains a network from bytes to the embeddings of a model: `align-bytes`."""

from typing import Annotated, Any

import typer

from bitcipher.files import storage
from bitcipher.redaction import redact
from cluster.cli.dependencies import require_extra
from cluster.cli.options import AlignmentSettings, ModelFolder
from cluster.cli.verbosity import with_verbosity
from cluster.metavars import PATH


@with_verbosity
def align_bytes(
    model: ModelFolder,
    *,
    out: Annotated[str, typer.Option(help="New directory of the network.", metavar=PATH)],
    settings: AlignmentSettings = None,
) -> None:
    """Train a network to compute the embeddings of a model's tokens from their bytes, and of any other string.

    All options, such as size=small or loss=cosine, are in training/studies/byte_embeddings/README.md.

    For example: bitcipher align-bytes runs/random-1 --out bytes --set size=small --set epochs=20
    """
    require_extra("training", "`bitcipher align-bytes`")
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
    from training.studies.byte_embeddings.alignment import align, aligned_tokens  # the import of torch takes seconds
    from training.studies.byte_embeddings.stored_embeddings import save_byte_embeddings, table_digest

    teacher, tokenizer = open_model(model)
    tokens = aligned_tokens(tokenizer)
    rows = input_embeddings(teacher).weight[list(tokens.values())]
    with StageProgress() as progress:
        bar = progress.begin("align", options.epochs)
        embeddings = align(rows, list(tokens), options, lambda loss: progress.advance(bar, 1, f"loss {loss:.4f}"))
        progress.end(bar)
    save_byte_embeddings(embeddings, storage.absolute(out), table_digest(list(tokens), rows))
    OUT.print(f"{redact(out)} holds the network, which gives {len(tokens):,} tokens their vectors from bytes.")

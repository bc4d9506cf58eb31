"""Questions and answers made from plain text."""

from typing import Annotated, Any

import typer

from bitcipher.terminal import print_text
from cluster.cli.command_groups import group
from cluster.cli.dependencies import require_extra
from cluster.cli.options import Documents, option_name, record_options
from cluster.cli.verbosity import with_verbosity
from cluster.metavars import PATH
from training.studies.cloze_questions.options import ClozeOptions

cloze_questions = group(__doc__)


@cloze_questions.command()
@with_verbosity
@record_options(ClozeOptions)
def make(
    option_values: dict[str, Any],
    sources: Documents,
    *,
    out: Annotated[str, typer.Option(help="Folder for the training and the validation file.", metavar=PATH)],
) -> None:
    """Make a question answering task from plain text, to fine-tune a model on before the real questions.

    For example: bitcipher study cloze-questions make enwiki --out cloze
    """
    require_extra("training", "`bitcipher study cloze-questions`")
    from pipelines.ingest.sources import list_sources
    from pipelines.runtime.progress import StageProgress
    from training.studies.cloze_questions.write_questions import write_questions

    options = ClozeOptions.parse(option_values, name=option_name)
    with StageProgress() as progress:
        listed = list_sources(sources, options.format, progress.say, list_protocols=options.list_protocols)
        counts = write_questions(listed, out, options, progress)
    print_text(f"{out} holds {counts.train:,} training and {counts.validation:,} validation questions.")

"""Encoders of equal size, and shared embeddings (He 2021)."""

from cluster.cli.command_groups import group
from cluster.cli.commands.evaluate import Seeds
from cluster.cli.dependencies import require_extra
from cluster.cli.options import RunsFolder, Settings, TrainingText, Workers
from cluster.cli.studies.model_comparison import FinetuningSettings, Questions, Task, TaskFolder, print_comparison
from cluster.cli.verbosity import with_verbosity

encoders = group(__doc__)


@encoders.command()
@with_verbosity
def compare(
    sources: TrainingText,
    *,
    data: TaskFolder,
    out: RunsFolder,
    task: Task = "squad2",
    questions: Questions = None,
    seeds: Seeds = 3,
    settings: Settings = None,
    finetuning_settings: FinetuningSettings = None,
    workers: Workers = 0,
) -> None:
    """Compare BERT with static and dynamic masks, RoBERTa, ELECTRA, DeBERTa and DeBERTaV3 of equal size on a task.

    For example: bitcipher study encoders compare corpus --task cola --data glue/CoLA --out encoders --seeds 1
    """
    require_extra("training", "`bitcipher study encoders`")
    from training.studies.encoders.encoder_comparison import reproduce_encoders as report

    common = (task, data, questions, out, seeds, settings, finetuning_settings, workers)
    print_comparison(*common, lambda comparison: report(comparison, sources))


@encoders.command("embedding-sharing")
@with_verbosity
def embedding_sharing(
    sources: TrainingText,
    *,
    data: TaskFolder,
    out: RunsFolder,
    task: Task = "squad2",
    questions: Questions = None,
    seeds: Seeds = 3,
    settings: Settings = None,
    finetuning_settings: FinetuningSettings = None,
    workers: Workers = 0,
) -> None:
    """Compare shared, separate and gradient-disentangled embeddings in replaced-token detection (DeBERTaV3, Table 1).

    For example: bitcipher study encoders embedding-sharing corpus --task cola --data glue/CoLA --out sharing --seeds 1
    """
    require_extra("training", "`bitcipher study encoders`")
    from training.studies.encoders.embedding_sharing import reproduce_embedding_sharing as report

    common = (task, data, questions, out, seeds, settings, finetuning_settings, workers)
    print_comparison(*common, lambda comparison: report(comparison, sources))

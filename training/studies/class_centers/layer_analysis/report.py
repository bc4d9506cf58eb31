"""Report on the layers of a run's checkpoints: a figure and tables."""

from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

import pyarrow.csv
import pyarrow.parquet as pq

from pipelines.runtime.progress import StageProgress
from training.comparison.curves.comparison import copy_files
from training.evaluation.probes.tasks import read_task
from training.studies.class_centers.layer_analysis.checkpoint_metrics import measure_layers
from training.studies.class_centers.layer_analysis.classifier_metrics import measure_classifier
from training.studies.class_centers.layer_analysis.layer_figure import draw_layers
from training.studies.class_centers.layer_analysis.records import to_table
from training.tasks.finetuning.run_files import CONFIG as FINETUNING_CONFIG


def write_layer_report(
    run: Path, out: str, n_classes: int, n_sequences: int, task: tuple[str, str] | None, progress: StageProgress
) -> None:
    """Write the metrics of a run's layers as layers.png, layers.csv and layers.parquet.

    Args:
        run: directory of a pre-training run, or of a fine-tuning run of a classifier of sentences.
        out: directory or URI; files of these names are replaced.
        n_classes: number of classes of a pre-training run, which are the most frequent target tokens.
        n_sequences: maximum number of training sequences or rows, and of validation sequences or rows.
        task: name and folder of a task with labeled words for linear probes of a pre-training run, or None for no
            probes.
        progress: progress display.

    Raises:
        BitcipherError: if the run has no checkpoints, or its text or the task's files are missing.
    """

    def begin(checkpoints: int) -> Callable[[int], None]:
        bar = progress.begin("layers", checkpoints)
        return lambda step: progress.advance(bar, 1, f"step {step:,}")

    if (run / FINETUNING_CONFIG).exists():
        records = measure_classifier(run, n_sequences, begin)
    else:
        records = measure_layers(run, n_classes, n_sequences, read_task(*task) if task else None, begin)
    table = to_table(records)
    with TemporaryDirectory() as temporary:
        draw_layers(records, Path(temporary, "layers.png"))
        pyarrow.csv.write_csv(table, Path(temporary, "layers.csv"))
        pq.write_table(table, Path(temporary, "layers.parquet"))
        copy_files(Path(temporary), out)

"""Class centers of fine-tuned classifiers: pre-trained, from scratch, with SVSL, and with random targets.

- pre-trained: the weights of the model;
- from scratch: random weights;
- svsl: the weights of the model, with SVSL's term in the loss;
- random targets: the weights of the model, and the labels of each part in random order;
- from scratch, WIDTHxLAYERS: random weights of a ModernBERT of another shape, with the tokenizer of the model.

The folder of the data has GLUE's tasks in `glue`, and in `textclass` the files trec_train.jsonl.gz,
clinc150_train.jsonl.gz and clinc150_val.jsonl.gz with the columns text, label_coarse and label_fine. TREC has its
coarse classes, and a fifth of its questions are held out; CLINC150 has its 150 fine classes.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow.parquet as pq

from bitcipher.errors import BitcipherError
from bitcipher.files import storage
from bitcipher.files.markdown import format_spread, format_table
from bitcipher.files.text_files import read_lines
from pipelines.runtime.progress import StageProgress
from pipelines.tokenizers.tokenizer_json import load_tokenizer, vocab_size
from training.comparison.curves.figure import COLORS
from training.data.special_tokens import special_tokens
from training.data.tokenizer_files import save_tokenizer
from training.models.build import build_model
from training.models.checkpoint import save_model
from training.models.options import ModelOptions
from training.runs.launch.finetuning import finetune
from training.studies.class_centers.center_figure import draw_centers
from training.studies.class_centers.layer_analysis.center_metrics import HELD_OUT, MISMATCH, TRAIN
from training.studies.class_centers.layer_analysis.report import write_layer_report
from training.studies.class_centers.sentence_embeddings.labeled_sentences import (
    LabeledSentences,
    read_sentences,
    split_sentences,
)
from training.tasks.finetuning.task_files import GLUE

# Columns of the labels of GLUE's tasks, and whether their files begin with the names of the columns.
GLUE_LABELS = {"rte": (-1, True), "mrpc": (0, True), "cola": (1, False)}
TASKS = (*GLUE_LABELS, "trec", "clinc150")
SCRATCH = "from scratch"
WEIGHTS = ("pre-trained", SCRATCH, "svsl", "random targets")
HEAD_WIDTH = 32
PARTS = ("train", "dev")


class Measured(NamedTuple):
    """What a fine-tuning run has after its last epoch."""

    score: float
    """Score on held-out rows."""
    baseline: float
    """The same of the most frequent label."""
    mismatch: dict[str, np.ndarray]
    """[layers] of each part: mismatch of nearest class center and model."""


@dataclass(frozen=True)
class CenterOptions:
    """Options of a comparison.

    Raises:
        BitcipherError: if a name or a shape is not valid, or there are more kinds of weights than colors.
    """

    tasks: Sequence[str] = TASKS
    """Names of the tasks."""
    weights: Sequence[str] = WEIGHTS
    """Kinds of weights."""
    shapes: Sequence[str] = ()
    """Other shapes from scratch, such as 64x4."""
    rows: int = 2500
    """Maximum number of training rows."""
    epochs: int = 10
    samples: int = 1000
    """Maximum number of rows of each part for a mismatch."""
    seeds: int = 1
    """Number of runs per kind of weights."""
    svsl_weight: float = 0.001
    settings: Sequence[str] = ()
    """Changes to all runs, such as "loop.batch_size=16"."""

    def __post_init__(self) -> None:
        """Check the names and shapes."""
        for option, chosen, known in (("task", self.tasks, TASKS), ("weights", self.weights, WEIGHTS)):
            if wrong := next((name for name in chosen if name not in known), None):
                raise BitcipherError(f"`--{option}` must be one of {', '.join(known)}, got {wrong!r}.")
        if len(self.weights) + len(self.shapes) > len(COLORS):
            raise BitcipherError(f"The figure has {len(COLORS)} colors; leave out some of --weights or --shape.")
        for shape in self.shapes:
            width, _, layers = shape.partition("x")
            if not (width.isdecimal() and layers.isdecimal() and 0 < int(width) and int(width) % HEAD_WIDTH == 0):
                raise BitcipherError(
                    f"`--shape` must be a multiple of {HEAD_WIDTH} and a number of layers, as in 64x4, got {shape!r}."
                )


def compare_class_centers(model: str, data: Path, out: Path, options: CenterOptions, progress: StageProgress) -> str:
    """Fine-tune classifiers, and measure the mismatch of nearest class center and model in each layer.

    The table has the score on held-out rows, and after the last epoch the mismatch in each layer from the embeddings
    on, which `centers.png` shows. Of several seeds, both are means, and the score has its standard deviation. To resume
    an interrupted call, repeat it.

    Args:
        model: a run of an encoder, or a folder of transformers.
        data: folder with glue and textclass.
        out: folder of all runs, `centers.md` and `centers.png`.
        options: tasks, kinds of weights, sizes and seeds.
        progress: progress bars.

    Returns:
        The table, in Markdown.

    Raises:
        BitcipherError: if a file is missing, or a run cannot be trained.
    """
    models = dict.fromkeys(options.weights, model)
    for shape in options.shapes:
        models[f"{SCRATCH}, {shape}"] = _write_shape(shape, model, out / "shapes" / shape)
    rows, means = [], {}
    for task in options.tasks:
        means[task] = {}
        for kind, weights in models.items():
            seeds = range(1, options.seeds + 1)
            runs = [_measure(task, kind, weights, seed, data, out, options, progress) for seed in seeds]
            mean = {part: np.mean([run.mismatch[part] for run in runs], axis=0) for part in (TRAIN, HELD_OUT)}
            layers = [" ".join(f"{value:.2f}" for value in values) for values in mean.values()]
            score = format_spread([run.score for run in runs], 1)
            rows.append([task, kind, score, f"{runs[0].baseline:.1f}", *layers])
            means[task][kind] = mean
    table = format_table(
        ["task", "weights", "score", "most frequent label", "mismatch by layer, train", "held out"], rows
    )
    (out / "centers.md").write_text(table)
    draw_centers(means, out / "centers.png")
    return table


def _write_task(name: str, data: Path, folder: Path, n_rows: int, *, is_random: bool) -> None:
    """Write the files of a task.

    Args:
        name: one of `TASKS`.
        data: folder with glue and textclass.
        folder: target.
        n_rows: maximum number of training rows, a fixed sample. Held-out rows of labels without any are left out.
        is_random: put the labels of each part into random order.
    """
    folder.mkdir(parents=True, exist_ok=True)
    parts = _glue_parts(name, data) if name in GLUE_LABELS else _class_parts(name, data)
    header, column = parts.pop("header", []), GLUE_LABELS.get(name, (0, True))[0]
    numbers = np.sort(np.random.default_rng(0).permutation(len(parts["train"]))[:n_rows])
    parts["train"] = [parts["train"][number] for number in numbers]
    known = {row[column] for row in parts["train"]}
    parts["dev"] = [row for row in parts["dev"] if row[column] in known]
    for seed, part in enumerate(PARTS):
        random, rows = np.random.default_rng(seed), parts[part]
        if is_random:
            labels = [row[column] for row in rows]
            for row, number in zip(rows, random.permutation(len(rows)), strict=True):
                row[column] = labels[number]
        lines = ["\t".join(row) for row in (*header, *rows)]
        (folder / f"{part}.tsv").write_text("\n".join(lines) + "\n")


def _glue_parts(name: str, data: Path) -> dict[str, list[list[str]]]:
    """Return the rows of each part, and of the header if there is one."""
    parts = {}
    for part in PARTS:
        lines = read_lines(str(data / "glue" / GLUE[name] / f"{part}.tsv"))
        rows = [line.split("\t") for line in lines]
        if GLUE_LABELS[name][1]:
            parts["header"], rows = rows[:1], rows[1:]
        parts[part] = rows
    return parts


def _class_parts(name: str, data: Path) -> dict[str, list[list[str]]]:
    """Return the rows of each part with the columns label and text."""
    level = "label_coarse" if name == "trec" else "label_fine"

    def read(file: str) -> LabeledSentences:
        return read_sentences([str(data / "textclass" / file)], "text", [level])

    train = read(f"{name}_train.jsonl.gz")
    train, dev = split_sentences(train) if name == "trec" else (train, read(f"{name}_val.jsonl.gz"))
    parts = {
        part: [[str(label), " ".join(text.split())] for label, text in zip(of.labels[level], of.texts, strict=True)]
        for part, of in zip(PARTS, (train, dev), strict=True)
    }
    return parts | {"header": [["label", "text"]]}


def _write_shape(shape: str, model: str, folder: Path) -> str:
    """Write a ModernBERT with random weights, and return its folder.

    Args:
        shape: width, a multiple of 32, and number of layers, such as 64x4.
        model: folder with the tokenizer.
        folder: target.
    """
    width, layers = map(int, shape.split("x"))
    options = ModelOptions(
        architecture="modernbert",
        num_hidden_layers=layers,
        hidden_size=width,
        num_attention_heads=width // HEAD_WIDTH,
        intermediate_size=width * 3 // 2,
        dropout=0.0,
    )
    tokenizer = load_tokenizer(storage.join(model, "tokenizer.json"))
    save_model(build_model(options, special_tokens(tokenizer), vocab_size(tokenizer), seed=1), str(folder))
    save_tokenizer(tokenizer, str(folder / "tokenizer.json"))
    return str(folder)


def _measure(
    task: str,
    kind: str,
    model: str,
    seed: int,
    data: Path,
    out: Path,
    options: CenterOptions,
    progress: StageProgress,
) -> Measured:
    """Fine-tune a classifier, and measure it after the last epoch."""
    is_random = kind == "random targets"
    rows = out / "data" / f"{task}{'-random' if is_random else ''}"
    if not (rows / "dev.tsv").exists():
        _write_task(task, data, rows, options.rows, is_random=is_random)
    run = out / f"{task}-{kind.replace(',', '').replace(' ', '-')}-{seed}"
    settings = [f"num_train_epochs={options.epochs}", "eval_each_epoch=true", "loop.save_total_limit=null"]
    settings += [f"loop.save_steps={_steps_per_epoch(task, rows, options.settings)}", "loop.device=cpu"]
    settings += [f"svsl_weight={options.svsl_weight}"] if kind == "svsl" else []
    result = finetune(
        model,
        task if task in GLUE_LABELS else "classes",
        rows,
        run,
        settings=[*settings, *options.settings],
        random_init=kind.startswith(SCRATCH),
        seed=seed,
    )
    if not (run / "layers" / "layers.parquet").exists():
        write_layer_report(run, str(run / "layers"), 0, options.samples, None, progress)
    records = pq.read_table(run / "layers" / "layers.parquet").to_pylist()
    last = max(record["step"] for record in records)
    records = [each for each in records if (each["step"], each["metric"]) == (last, MISMATCH)]
    mismatch = {
        part: np.array([each["value"] for each in records if each["part"] == part]) for part in (TRAIN, HELD_OUT)
    }
    baseline = result.baselines["most frequent label"]
    return Measured(result.scores[result.main_metric], baseline[result.main_metric], mismatch)


def _steps_per_epoch(task: str, data: Path, settings: Sequence[str]) -> int:
    has_header = GLUE_LABELS.get(task, (0, True))[1]
    n_rows = (data / "train.tsv").read_text().count("\n") - has_header
    sizes = [setting.partition("=")[2] for setting in settings if setting.startswith("loop.batch_size=")]
    return math.ceil(n_rows / int(sizes[-1] if sizes else 32))

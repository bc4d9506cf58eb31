"""Class centers of fine-tuned classifiers: pre-trained, from scratch, with SVSL, and with random targets.

compare_class_centers.py MODEL --data FOLDER --out FOLDER

MODEL is a run of an encoder. The folder of the data has GLUE's tasks in `glue`, and in `textclass` the files
trec_train.jsonl.gz, clinc150_train.jsonl.gz and clinc150_val.jsonl.gz with the columns text, label_coarse and
label_fine. TREC has its coarse classes, and a fifth of its questions are held out; CLINC150 has its 150 fine classes.

- pre-trained: the weights of MODEL;
- from scratch: random weights;
- svsl: the weights of MODEL, with SVSL's term in the loss;
- random targets: the weights of MODEL, and the labels of each part in random order;
- from scratch, WIDTHxLAYERS: random weights of a ModernBERT of each of --shapes, with the tokenizer of MODEL.

The table has the score on held-out rows, and after the last epoch the mismatch of nearest class center and model in
each layer from the embeddings on, which centers.png shows. Of several seeds, both are means, and the score has its
standard deviation. The folder also gets all runs, and the layers.png of each over its epochs. After an interruption,
the same command resumes. Run it with OMP_NUM_THREADS=1.
"""

import argparse
import math
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow.parquet as pq
from center_figure import draw_centers

from bitcipher import finetune
from bitcipher.files.markdown import format_spread, format_table
from pipelines.runtime.progress import StageProgress
from pipelines.tokenizers.tokenizer_json import load_tokenizer, vocab_size
from training.comparison.curves.figure import COLORS
from training.data.special_tokens import special_tokens
from training.data.tokenizer_files import save_tokenizer
from training.models.build import build_model
from training.models.checkpoint import save_model
from training.models.options import ModelOptions
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
WAYS = ("pre-trained", SCRATCH, "svsl", "random targets")
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


def parse_arguments() -> argparse.Namespace:
    """Return the arguments of the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", type=Path, metavar="MODEL", help="run of an encoder")
    parser.add_argument("--data", type=Path, required=True, metavar="PATH", help="folder with glue and textclass")
    parser.add_argument(
        "--out", type=Path, required=True, metavar="PATH", help="folder of all runs, centers.md and centers.png"
    )
    parser.add_argument("--tasks", nargs="+", choices=TASKS, default=[*TASKS], help="default: all")
    parser.add_argument("--ways", nargs="+", choices=WAYS, default=[*WAYS], help="default: all")
    parser.add_argument(
        "--shapes", nargs="+", default=[], metavar="WIDTHxLAYERS", help="other shapes from scratch, such as 64x4"
    )
    parser.add_argument("--rows", type=int, default=2500, metavar="N", help="training rows at most; default: 2500")
    parser.add_argument("--epochs", type=int, default=10, metavar="N", help="default: 10")
    parser.add_argument(
        "--samples", type=int, default=1000, metavar="N", help="rows per part of a mismatch; default: 1000"
    )
    parser.add_argument("--seeds", type=int, default=1, metavar="N", help="runs per way; default: 1")
    parser.add_argument("--svsl-weight", type=float, default=0.001, metavar="A", help="default: 0.001")
    parser.add_argument("--set", nargs="+", default=[], metavar="NAME=VALUE", help="changes to all runs")
    arguments = parser.parse_args()
    if len(arguments.ways) + len(arguments.shapes) > len(COLORS):
        parser.error(f"centers.png has {len(COLORS)} colors; leave out some --ways or --shapes.")
    for shape in arguments.shapes:
        width, _, layers = shape.partition("x")
        if not (width.isdecimal() and layers.isdecimal() and int(width) % HEAD_WIDTH == 0):
            parser.error(f"--shapes needs a multiple of {HEAD_WIDTH} and a number of layers, as in 64x4, got {shape}.")
    return arguments


def write_task(name: str, data: Path, folder: Path, n_rows: int, *, is_random: bool) -> None:
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
        content = (data / "glue" / GLUE[name] / f"{part}.tsv").read_text(encoding="utf-8-sig")
        rows = [line.split("\t") for line in content.rstrip("\n").split("\n")]
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


def write_shape(shape: str, model: Path, folder: Path) -> Path:
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
    tokenizer = load_tokenizer(str(model / "tokenizer.json"))
    save_model(build_model(options, special_tokens(tokenizer), vocab_size(tokenizer), seed=1), str(folder))
    save_tokenizer(tokenizer, str(folder / "tokenizer.json"))
    return folder


def measure(task: str, way: str, model: Path, seed: int, arguments: argparse.Namespace) -> Measured:
    """Fine-tune a classifier, and measure it after the last epoch."""
    is_random = way == "random targets"
    data = arguments.out / "data" / f"{task}{'-random' if is_random else ''}"
    if not (data / "dev.tsv").exists():
        write_task(task, arguments.data, data, arguments.rows, is_random=is_random)
    run = arguments.out / f"{task}-{way.replace(',', '').replace(' ', '-')}-{seed}"
    settings = [f"num_train_epochs={arguments.epochs}", "eval_each_epoch=true", "loop.save_total_limit=null"]
    settings += [f"loop.save_steps={_steps_per_epoch(task, data, arguments.set)}", "loop.device=cpu"]
    settings += [f"svsl_weight={arguments.svsl_weight}"] if way == "svsl" else []
    result = finetune(
        model,
        task if task in GLUE_LABELS else "classes",
        data,
        run,
        settings=[*settings, *arguments.set],
        random_init=way.startswith(SCRATCH),
        seed=seed,
    )
    if not (run / "layers" / "layers.parquet").exists():
        write_layer_report(run, str(run / "layers"), 0, arguments.samples, None, StageProgress())
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


def main() -> None:
    """Fine-tune all classifiers, and print the table."""
    arguments = parse_arguments()
    arguments.out = arguments.out.resolve()
    models = dict.fromkeys(arguments.ways, arguments.model)
    for shape in arguments.shapes:
        models[f"{SCRATCH}, {shape}"] = write_shape(shape, arguments.model, arguments.out / "shapes" / shape)
    rows, means = [], {}
    for task in arguments.tasks:
        means[task] = {}
        for way, model in models.items():
            found = [measure(task, way, model, seed, arguments) for seed in range(1, arguments.seeds + 1)]
            mean = {part: np.mean([run.mismatch[part] for run in found], axis=0) for part in (TRAIN, HELD_OUT)}
            layers = [" ".join(f"{value:.2f}" for value in values) for values in mean.values()]
            score = format_spread([run.score for run in found], 1)
            rows.append([task, way, score, f"{found[0].baseline:.1f}", *layers])
            means[task][way] = mean
    table = format_table(
        ["task", "weights", "score", "most frequent label", "mismatch by layer, train", "held out"], rows
    )
    (arguments.out / "centers.md").write_text(table)
    draw_centers(means, arguments.out / "centers.png")
    print(table)


if __name__ == "__main__":
    main()

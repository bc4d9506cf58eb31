"""Reader of the GLUE tasks in their published files (gluebenchmark.com): tab-separated, without quoting."""

import math
from typing import NamedTuple

from bitcipher.errors import BitcipherError
from bitcipher.files import storage
from bitcipher.files.text_files import read_lines
from training.metrics.classification import GLUE_METRICS
from training.tasks.base import Kind
from training.tasks.sentences import SentenceExample, SentenceTask


class _Columns(NamedTuple):
    """Columns of the files of a task."""

    header: tuple[str, ...] | None
    """Column names in the first line of train.tsv; None if the files have no header."""
    sentence_columns: tuple[str, ...]
    """Names of the columns with sentences, one or two."""
    label_column: str
    """Name of the column with the label or value."""
    labels: tuple[str, ...]
    """Labels as written in the files. The position of a label is its number. Empty for regression."""
    dev_file: str = "dev.tsv"
    """Name of the file for evaluation."""
    dev_header: tuple[str, ...] | None = None
    """Column names in the first line of the file for evaluation, if they differ."""
    has_broken_lines: bool = False
    """Some lines of the published files are parts of texts with a line break, without a label."""


_BINARY = ("0", "1")
_ENTAILMENT = ("entailment", "not_entailment")
_PAIR = ("index", "sentence1", "sentence2", "label")
_STS = ("index", "genre", "filename", "year", "old_index", "source1", "source2", "sentence1", "sentence2", "score")
# MultiNLI has one label per annotator, of which train.tsv has the first only.
_MNLI = ("index", "promptID", "pairID", "genre", "sentence1_binary_parse", "sentence2_binary_parse")
_MNLI += ("sentence1_parse", "sentence2_parse", "sentence1", "sentence2")
_MNLI_TRAIN, _MNLI_DEV = ((*_MNLI, *(f"label{i + 1}" for i in range(labels)), "gold_label") for labels in (1, 5))
_MNLI_LABELS = ("entailment", "neutral", "contradiction")
# Maximum similarity of two STS-B sentences, on the annotators' scale from 0.
_MOST_SIMILAR = 5.0

_COLUMNS = {
    "CoLA": _Columns(None, ("sentence",), "label", _BINARY),
    "SST-2": _Columns(("sentence", "label"), ("sentence",), "label", _BINARY),
    "MRPC": _Columns(
        ("Quality", "#1 ID", "#2 ID", "#1 String", "#2 String"), ("#1 String", "#2 String"), "Quality", _BINARY
    ),
    "STS-B": _Columns(_STS, ("sentence1", "sentence2"), "score", ()),
    "QNLI": _Columns(("index", "question", "sentence", "label"), ("question", "sentence"), "label", _ENTAILMENT),
    "RTE": _Columns(_PAIR, ("sentence1", "sentence2"), "label", _ENTAILMENT),
    "WNLI": _Columns(_PAIR, ("sentence1", "sentence2"), "label", _BINARY),
    "QQP": _Columns(
        ("id", "qid1", "qid2", "question1", "question2", "is_duplicate"),
        ("question1", "question2"),
        "is_duplicate",
        _BINARY,
        has_broken_lines=True,
    ),
    "MNLI": _Columns(_MNLI_TRAIN, ("sentence1", "sentence2"), "gold_label", _MNLI_LABELS, "dev_matched.tsv", _MNLI_DEV),
    "MNLI-MM": _Columns(
        _MNLI_TRAIN, ("sentence1", "sentence2"), "gold_label", _MNLI_LABELS, "dev_mismatched.tsv", _MNLI_DEV
    ),
}
_TRAIN_FILE = "train.tsv"
# Columns of CoLA, whose files have no header: source, label, the linguists' original mark, sentence.
_COLA = ("source", "label", "mark", "sentence")


def read_glue(name: str, folder: str) -> SentenceTask:
    """Read a GLUE task: train.tsv for training and dev.tsv for evaluation, because the test labels are not published.

    Without train.tsv the training split is empty, and a remark says that the task can only be evaluated.

    Args:
        name: CoLA, SST-2, MRPC, STS-B, QNLI, RTE, WNLI, QQP; MNLI, which is evaluated on dev_matched.tsv, or MNLI-MM,
            on dev_mismatched.tsv.
        folder: path or URI of the folder with these files.

    Raises:
        BitcipherError: if the task is unknown, the file for evaluation is missing, or a line is malformed. Lines of QQP
            with another number of columns are left out, and a remark has their number.
    """
    columns = _columns_of(name)
    *train_files, validation_file = list_glue_files(name, folder)
    train_file = storage.join(folder, _TRAIN_FILE)
    has_train = bool(train_files)
    train, train_remarks = _read(train_file, columns) if has_train else ((), ())
    validation, remarks = _read(validation_file, columns._replace(header=columns.dev_header or columns.header))
    if not has_train:
        remarks = (f"There is no {train_file}, so {name} can be evaluated, but not trained on.", *remarks)
    kind: Kind = "classification" if columns.labels else "regression"
    return SentenceTask(
        name=name,
        kind=kind,
        labels=columns.labels,
        train=train,
        validation=validation,
        metric_names=GLUE_METRICS[name],
        remarks=(*train_remarks, *remarks),
    )


def list_glue_files(name: str, folder: str) -> list[str]:
    """Return the files of a task that `read_glue` reads: train.tsv if there is one, then the file for evaluation.

    Raises:
        BitcipherError: if the task is unknown.
    """
    train, validation = (storage.join(folder, file) for file in (_TRAIN_FILE, _columns_of(name).dev_file))
    return [train, validation] if storage.exists(train) else [validation]


def _columns_of(name: str) -> _Columns:
    if name not in _COLUMNS:
        raise BitcipherError(f"There is no GLUE task {name!r}; choose one of {', '.join(_COLUMNS)}.")
    return _COLUMNS[name]


def _read(uri: str, columns: _Columns) -> tuple[tuple[SentenceExample, ...], tuple[str, ...]]:
    """Return the examples of a file, and remarks."""
    rows = [tuple(line.split("\t")) for line in read_lines(uri)]  # MRPC's files begin with a byte-order mark
    names = columns.header or _COLA
    if columns.header and (not rows or rows[0] != names):
        raise BitcipherError(f"Line 1 of {uri} must name the columns {', '.join(names)}, separated by tabs.")
    first = 1 if columns.header else 0
    numbered = [*enumerate(rows[first:], first + 1)]
    whole = [(number, row) for number, row in numbered if len(row) == len(names) or not columns.has_broken_lines]
    if not whole:
        raise BitcipherError(f"{uri} has no examples.")
    examples = tuple(_example(row, names, columns, uri, number) for number, row in whole)
    broken = len(numbered) - len(whole)
    remark = f"{broken:,} of {len(numbered):,} lines of {uri} have no label, and were left out."
    return examples, (remark,) * (broken > 0)


def _example(row: tuple[str, ...], names: tuple[str, ...], columns: _Columns, uri: str, number: int) -> SentenceExample:
    if len(row) != len(names):
        raise BitcipherError(
            f"Line {number} of {uri} has {len(row)} columns instead of {len(names)}: {', '.join(names)}."
        )
    values = dict(zip(names, row, strict=True))
    label = _label(values[columns.label_column], columns.labels)
    if label is None:
        wanted = " or ".join(columns.labels) or f"a number from 0 to {_MOST_SIMILAR:g}"
        raise BitcipherError(
            f"Line {number} of {uri} has the {columns.label_column} {values[columns.label_column]!r}, not {wanted}."
        )
    first, *second = (values[name].strip() for name in columns.sentence_columns)
    return SentenceExample(first, second[0] if second else None, label)


def _label(cell: str, labels: tuple[str, ...]) -> float | None:
    """Return the label number or the value in a cell, or None if it is not valid."""
    if labels:
        return labels.index(cell) if cell in labels else None
    try:
        value = float(cell)
    except ValueError:
        return None
    return value if math.isfinite(value) and 0 <= value <= _MOST_SIMILAR else None

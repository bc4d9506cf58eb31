"""Reader of classification of texts: tables with a text and a label in each row."""

from bitcipher.errors import BitcipherError
from bitcipher.files import storage
from training.data.table_rows import JSON_LINES, TSV, list_tables, read_columns
from training.tasks.sentences import SentenceExample, SentenceTask

COLUMNS = ("text", "label")
_ENDINGS = (TSV, *JSON_LINES)
# Names of the tables of training and of evaluation.
_PARTS = ("train", "dev")


def read_labeled_texts(folder: str) -> SentenceTask:
    """Read a task from one table train.* and one table dev.* with the columns `text` and `label`.

    The tables are TSV with a header, or JSON lines, compressed or not. The classes are the labels of the training part,
    in alphabetical order.

    Args:
        folder: path or URI of the folder.

    Raises:
        BitcipherError: if a table is missing or malformed, there is only one label, or a label occurs in dev.* only.
    """
    parts = {name: _read(uri) for name, uri in zip(_PARTS, list_labeled_texts(folder), strict=True)}
    labels = tuple(sorted({label for _, label in parts["train"]}))
    if len(labels) < 2:
        raise BitcipherError(f"The training texts in {folder} have fewer than two labels; provide texts of others.")
    unknown = next((label for _, label in parts["dev"] if label not in labels), None)
    if unknown is not None:
        raise BitcipherError(
            f"The label {unknown!r:.60} occurs in dev.* of {folder}, but not in train.*; add training texts with it, "
            "or remove those of dev.*."
        )
    numbers = {label: number for number, label in enumerate(labels)}
    examples = {
        name: tuple(SentenceExample(text, None, numbers[label]) for text, label in rows) for name, rows in parts.items()
    }
    return SentenceTask(
        name="classes",
        kind="classification",
        labels=labels,
        train=examples["train"],
        validation=examples["dev"],
        metric_names=("accuracy",),
    )


def list_labeled_texts(folder: str) -> list[str]:
    """Return the table of training and the table of evaluation.

    Raises:
        BitcipherError: if a table is missing, or there are several of one name.
    """
    return [_find_table(folder, name) for name in _PARTS]


def _read(uri: str) -> list[tuple[str, ...]]:
    rows = [row for source in list_tables([uri]) for row in read_columns(source, COLUMNS)]
    if not rows:
        raise BitcipherError(f"{uri} has no examples; provide some.")
    return rows


def _find_table(folder: str, name: str) -> str:
    """Return the only table with the given name, whatever its ending."""
    names = sorted(file for file in storage.list_files(folder) if file.startswith(f"{name}."))
    if len(names) != 1:
        found = " and ".join(names) if names else "none"
        raise BitcipherError(
            f"{folder} must contain exactly one table {name} with an ending such as {', '.join(_ENDINGS)} or "
            f"{JSON_LINES[0]}.gz, found {found}."
        )
    return storage.join(folder, names[0])

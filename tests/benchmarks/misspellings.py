"""Lists of misspelled words."""

import csv
import gzip
from pathlib import Path
from typing import NamedTuple


class Misspelling(NamedTuple):
    """A misspelled word, and the word that was meant."""

    written: str
    meant: str


def read_misspellings(path: Path) -> list[Misspelling]:
    """Return the distinct misspellings of a list, in lower case.

    Args:
        path: TSV with the columns misspelling and correct, compressed or not.
    """
    with (gzip.open if path.suffix == ".gz" else open)(path, "rt", encoding="utf-8") as lines:
        rows = csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE)
        pairs = [Misspelling(row["misspelling"].lower(), row["correct"].lower()) for row in rows]
    return list(dict.fromkeys(pairs))

"""Tables 1 to 7 of Zhao & Williams (2023), *Bit Cipher*, read from `paper_tables.yaml`."""

from dataclasses import dataclass
from functools import cache
from pathlib import Path

import yaml


@dataclass(frozen=True)
class PaperGrid:
    """One of Tables 2 to 7: scores of one mode of vectors on a task, for several corpus sizes."""

    table: int
    """Number of the table."""
    task: str
    """Task of the probe: "pos" or "ner"."""
    mode: str
    """Mode of the vectors: "sum", "cat" or "cipher"."""
    columns: tuple[tuple[int, int], ...]
    """Bits and window of each column."""
    rows: dict[float, tuple[tuple[float, float], ...]]
    """Accuracy and weighted F1 of each column in percent, by the size of the corpus in billions of tokens."""


@dataclass(frozen=True)
class PaperTables:
    """Tables 1 to 7 of *Bit Cipher*."""

    models: dict[str, dict[str, tuple[float, float]]]
    """Table 1: accuracy and weighted F1 in percent, by model and by task."""
    grids: tuple[PaperGrid, ...]
    """Tables 2 to 7."""


@cache
def paper_tables() -> PaperTables:
    """Return the tables of *Bit Cipher*."""
    content = yaml.safe_load((Path(__file__).parent / "paper_tables.yaml").read_text())
    models = {
        name: {task: (accuracy, f1) for task, (accuracy, f1) in scores.items()}
        for name, scores in content["models"].items()
    }
    return PaperTables(models, tuple(_grid(grid) for grid in content["grids"]))


def _grid(content: dict) -> PaperGrid:
    columns = tuple((bits, window) for bits in content["bits"] for window in content["window"])
    rows = {size: tuple((accuracy, f1) for accuracy, f1 in cells) for size, cells in content["rows"].items()}
    return PaperGrid(content["table"], content["task"], content["mode"], columns, rows)

"""Tables 1 to 7 of Zhao & Williams (2023), *Bit Cipher*, read from `paper_tables.yaml`."""

from dataclasses import dataclass
from functools import cache
from pathlib import Path

import yaml


@dataclass(frozen=True)
class PaperGrid:
    """One of Tables 2 to 7: scores of one mode of vectors on a task, for several corpus sizes."""

    table: int
    task: str
    mode: str
    columns: tuple[tuple[int, int], ...]
    """Bits and window of each column."""
    rows: dict[float, tuple[tuple[float, float], ...]]
    """By billions of tokens, the accuracy and weighted F1 of each column, in percent."""


@dataclass(frozen=True)
class PaperTables:
    """All tables of the paper."""

    models: dict[str, dict[str, tuple[float, float]]]
    """Table 1: by model and task, the accuracy and weighted F1 in percent."""
    grids: tuple[PaperGrid, ...]
    """Tables 2 to 7."""


@cache
def paper_tables() -> PaperTables:
    """Return the paper's tables."""
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

"""Writer of the tables as Markdown, CSV and Parquet."""

from collections.abc import Sequence
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.csv

from bitcipher import storage
from training.markdown import format_table
from training.probes.paper import PaperGrid, paper_tables
from training.probes.probe import ProbeResult
from training.reproduce.models import CountedBuild, VectorModel, grid_models

TITLES = {"sum": "Sum", "cat": "Cat", "cipher": "Cipher", "random": "Random vectors"}
TASK_TITLES = {"pos": "part of speech (GUM)", "ner": "entities (CoNLL-2003)"}


@dataclass(frozen=True)
class CellResult:
    """Scores of one cell."""

    build: CountedBuild
    model: VectorModel
    dimensions: int
    result: ProbeResult


def write_tables(out: str, grids: Sequence[PaperGrid], figures: Sequence[CellResult]) -> str:
    """Write `tables.md`, `tables.csv` and `tables.parquet`.

    Returns:
        The URI of the Markdown page.
    """
    table = _as_rows(grids, figures)
    storage.write_table(storage.join(out, "tables.parquet"), table)
    with storage.writing(storage.join(out, "tables.csv")) as stream:
        pyarrow.csv.write_csv(table, stream)
    page = storage.join(out, "tables.md")
    with storage.writing(page) as stream:
        stream.write(_page(grids, figures).encode())
    return page


def _page(grids: Sequence[PaperGrid], figures: Sequence[CellResult]) -> str:
    seeds = len(figures[0].result.seeds)
    lines = [
        "# Tables 2 to 7 of the paper, reproduced",
        "",
        f"Accuracy in percent, mean ± standard deviation over {seeds} seed{'s' * (seeds > 1)}, with weighted F1 in "
        "parentheses. The paper's rows are one probe each, with its own text, words and data splits.",
    ]
    for grid in grids:
        models = grid_models(grid)
        measured = {(id(f.build), f.model): f for f in figures if f.result.task == grid.task}
        rows = [
            [_tokens(build.tokens), *(_measured(measured[id(build), model]) for model in models)]
            for build in _builds(figures)
        ]
        rows += [
            [f"paper, {size:g} B", *(f"{accuracy:.2f} ({f1:.2f})" for accuracy, f1 in cells)]
            for size, cells in grid.rows.items()
        ]
        title = f"## Table {grid.table}: {TITLES[grid.mode]}, {TASK_TITLES[grid.task]}"
        lines += ["", title, "", _table(["text", *(_column(model) for model in models)], rows)]
    lines += _other_models(figures)
    rows = [
        [name, *("{:.2f} ({:.2f})".format(*values[task]) for task in TASK_TITLES)]
        for name, values in paper_tables().models.items()
    ]
    lines += ["", "## The paper's Table 1", "", _table(["model", *TASK_TITLES.values()], rows)]
    return "\n".join(lines) + "\n"


def _other_models(figures: Sequence[CellResult]) -> list[str]:
    tasks = list(dict.fromkeys(f.result.task for f in figures))
    rows = []
    for build in _builds(figures):
        for model in build.extra_models():
            cells = {f.result.task: f for f in figures if f.build is build and f.model == model}
            size = next(iter(cells.values())).dimensions
            name = TITLES.get(model.mode, model.mode)
            rows.append([_tokens(build.tokens), name, str(size), *(_measured(cells[task]) for task in tasks)])
    header = ["text", "vectors", "vector size", *(TASK_TITLES[task] for task in tasks)]
    return ["", "## Other models", "", _table(header, rows)]


def _table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    return format_table(header, rows, text_columns=len(header)).rstrip("\n")


def _as_rows(grids: Sequence[PaperGrid], figures: Sequence[CellResult]) -> pa.Table:
    """Return one row per measured cell and per cell of the paper; scores are between 0 and 1."""
    tables = {(grid.task, model): grid.table for grid in grids for model in grid_models(grid)}
    rows = []
    for f in figures:
        row = {
            "source": "here",
            "table": tables.get((f.result.task, f.model)),
            "task": f.result.task,
            "tokens": f.build.tokens,
            "mode": f.model.mode,
            "bits": f.model.bits,
            "window": f.model.window,
            "dimensions": f.dimensions,
            "seeds": len(f.result.seeds),
            "covered_tokens": f.result.covered_tokens,
        }
        for name in ("accuracy", "weighted_f1", *(["span_f1"] if f.result.seeds[0].span_f1 is not None else [])):
            row |= {name: f.result.mean(name), f"{name}_spread": f.result.spread(name)}
        rows.append(row)
    for grid in grids:
        for size, cells in grid.rows.items():
            for model, (accuracy, f1) in zip(grid_models(grid), cells, strict=True):
                rows.append(
                    {
                        "source": "paper",
                        "table": grid.table,
                        "task": grid.task,
                        "tokens": round(size * 1e9),
                        "mode": grid.mode,
                        "bits": model.bits,
                        "window": model.window,
                        "seeds": 1,
                        "accuracy": round(accuracy / 100, 4),
                        "weighted_f1": round(f1 / 100, 4),
                    }
                )
    columns = ("accuracy", "accuracy_spread", "weighted_f1", "weighted_f1_spread", "span_f1", "span_f1_spread")
    schema = pa.schema(
        [("source", pa.string()), ("table", pa.int64()), ("task", pa.string()), ("tokens", pa.int64())]
        + [("mode", pa.string())]
        + [(name, pa.int64()) for name in ("bits", "window", "dimensions", "seeds")]
        + [("covered_tokens", pa.float64())]
        + [(name, pa.float64()) for name in columns]
    )
    return pa.Table.from_pylist(rows, schema)


def _builds(figures: Sequence[CellResult]) -> list[CountedBuild]:
    return list({id(f.build): f.build for f in figures}.values())


def _measured(f: CellResult) -> str:
    accuracy, f1 = f.result.mean("accuracy"), f.result.mean("weighted_f1")
    spread = f" ± {100 * f.result.spread('accuracy'):.2f}" if len(f.result.seeds) > 1 else ""
    return f"{100 * accuracy:.2f}{spread} ({100 * f1:.2f})"


def _column(model: VectorModel) -> str:
    return f"b = {model.bits}" + (f", r = {model.window}" if model.mode == "sum" else "")


def _tokens(tokens: int) -> str:
    return f"{tokens:,} tokens"

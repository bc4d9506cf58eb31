"""Writer of the reproduced tables of Zhao & Williams (2023) as Markdown, CSV and Parquet."""

from collections.abc import Sequence
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.csv

from bitcipher import parquet_files, storage
from training.markdown import format_table
from training.probes.paper_tables import PaperGrid, paper_tables
from training.probes.probe_scores import ProbeResult
from training.reproduce.vector_models import CountedBuild, VectorModel, grid_models

TITLES = {"sum": "Sum", "cat": "Cat", "cipher": "Cipher", "random": "Random vectors"}
TASK_TITLES = {"pos": "part of speech (GUM)", "ner": "entities (CoNLL-2003)"}


@dataclass(frozen=True)
class CellResult:
    """Scores of one table cell, with the vectors and the build that they belong to."""

    build: CountedBuild
    model: VectorModel
    dimensions: int
    result: ProbeResult


def write_tables(out: str, grids: Sequence[PaperGrid], results: Sequence[CellResult]) -> str:
    """Write `tables.md`, `tables.csv` and `tables.parquet`.

    Returns:
        The URI of the Markdown page.
    """
    table = _as_rows(grids, results)
    parquet_files.write_table(storage.join(out, "tables.parquet"), table)
    with storage.writing(storage.join(out, "tables.csv")) as stream:
        pyarrow.csv.write_csv(table, stream)
    page = storage.join(out, "tables.md")
    with storage.writing(page) as stream:
        stream.write(_page(grids, results).encode())
    return page


def _page(grids: Sequence[PaperGrid], results: Sequence[CellResult]) -> str:
    seeds = len(results[0].result.seeds)
    lines = [
        "# Tables 2 to 7 of Zhao & Williams (2023), reproduced",
        "",
        f"Cells show the accuracy in percent, mean ± standard deviation over {seeds} seed{'s' * (seeds > 1)}, with the "
        "weighted F1 in parentheses. Columns have b bits and window r (the paper's radius), and rows the number of "
        "tokens (B: billions). The paper's scores are of one probe each, with the paper's text, words and data splits.",
    ]
    for grid in grids:
        models = grid_models(grid)
        measured = {(id(cell.build), cell.model): cell for cell in results if cell.result.task == grid.task}
        rows = [
            [_tokens(build.tokens), *(_measured(measured[id(build), model]) for model in models)]
            for build in _builds(results)
        ]
        rows += [
            [f"paper, {size:g} B", *(f"{accuracy:.2f} ({f1:.2f})" for accuracy, f1 in cells)]
            for size, cells in grid.rows.items()
        ]
        title = f"## Table {grid.table}: {TITLES[grid.mode]}, {TASK_TITLES[grid.task]}"
        lines += ["", title, "", _table(["text", *(_column(model) for model in models)], rows)]
    lines += _other_models(results)
    rows = [
        [name, *("{:.2f} ({:.2f})".format(*values[task]) for task in TASK_TITLES)]
        for name, values in paper_tables().models.items()
    ]
    lines += ["", "## The paper's Table 1", "", _table(["model", *TASK_TITLES.values()], rows)]
    return "\n".join(lines) + "\n"


def _other_models(results: Sequence[CellResult]) -> list[str]:
    tasks = list(dict.fromkeys(cell.result.task for cell in results))
    rows = []
    for build in _builds(results):
        for model in build.extra_models():
            cells = {cell.result.task: cell for cell in results if cell.build is build and cell.model == model}
            size = next(iter(cells.values())).dimensions
            name = TITLES.get(model.mode, model.mode)
            rows.append([_tokens(build.tokens), name, str(size), *(_measured(cells[task]) for task in tasks)])
    header = ["text", "vectors", "vector size", *(TASK_TITLES[task] for task in tasks)]
    return ["", "## Other models", "", _table(header, rows)]


def _table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    return format_table(header, rows, text_columns=len(header)).rstrip("\n")


def _as_rows(grids: Sequence[PaperGrid], results: Sequence[CellResult]) -> pa.Table:
    """Return one row per measured cell and per cell of the paper; scores are between 0 and 1."""
    tables = {(grid.task, model): grid.table for grid in grids for model in grid_models(grid)}
    rows = []
    for cell in results:
        row = {
            "source": "here",
            "table": tables.get((cell.result.task, cell.model)),
            "task": cell.result.task,
            "tokens": cell.build.tokens,
            "mode": cell.model.mode,
            "bits": cell.model.bits,
            "window": cell.model.window,
            "dimensions": cell.dimensions,
            "seeds": len(cell.result.seeds),
            "covered_tokens": cell.result.covered_tokens,
        }
        for name in ("accuracy", "weighted_f1", *(["span_f1"] if cell.result.seeds[0].span_f1 is not None else [])):
            row |= {name: cell.result.mean(name), f"{name}_spread": cell.result.spread(name)}
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


def _builds(results: Sequence[CellResult]) -> list[CountedBuild]:
    return list({id(cell.build): cell.build for cell in results}.values())


def _measured(cell: CellResult) -> str:
    accuracy, f1 = cell.result.mean("accuracy"), cell.result.mean("weighted_f1")
    spread = f" ± {100 * cell.result.spread('accuracy'):.2f}" if len(cell.result.seeds) > 1 else ""
    return f"{100 * accuracy:.2f}{spread} ({100 * f1:.2f})"


def _column(model: VectorModel) -> str:
    return f"b = {model.bits}" + (f", r = {model.window}" if model.mode == "sum" else "")


def _tokens(tokens: int) -> str:
    return f"{tokens:,} tokens"

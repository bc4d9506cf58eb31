"""Writer of the reproduced tables of Zhao & Williams (2023) as Markdown, CSV and Parquet, and of the figures."""

from collections.abc import Mapping, Sequence

import pyarrow as pa
import pyarrow.csv

from bitcipher.files import parquet_files, storage
from bitcipher.files.markdown import format_table
from training.studies.bit_cipher.cell_results import CellResult, builds_of, find_cell
from training.studies.bit_cipher.cipher_figures import draw_codes, draw_sizes
from training.studies.bit_cipher.paper_tables import PaperGrid, paper_tables
from training.studies.bit_cipher.vector_models import FILE, CountedBuild, PeerVectors, VectorModel, grid_models

TITLES = {"sum": "Sum", "cat": "Cat", "cipher": "Cipher", "random": "Random vectors"}
TASK_TITLES = {"pos": "part of speech (GUM)", "ner": "entities (CoNLL-2003)"}
# Models of Table 1 that are computed from counts, all of 200 dimensions.
MODELS_OF_TABLE_1 = {
    "Cipher": VectorModel(mode="cipher", bits=200),
    "Cipher (Sum)": VectorModel(mode="sum", bits=200, window=4),
    "Cipher (Cat)": VectorModel(mode="cat", bits=25, window=4),
}


def write_tables(
    out: str, grids: Sequence[PaperGrid], results: Sequence[CellResult], cipher_options: Mapping[str, str]
) -> str:
    """Write `tables.md`, `tables.csv`, `tables.parquet`, `figure-1.png` and `figure-3.png`.

    Returns:
        The URI of the Markdown page.
    """
    table = _as_rows(grids, results)
    parquet_files.write_table(storage.join(out, "tables.parquet"), table)
    with storage.writing(storage.join(out, "tables.csv")) as stream:
        pyarrow.csv.write_csv(table, stream)
    page = storage.join(out, "tables.md")
    with storage.writing(page) as stream:
        stream.write(_page(grids, results, cipher_options).encode())
    for name, picture in (("figure-1", draw_codes(5)), ("figure-3", draw_sizes(grids, results))):
        with storage.writing(storage.join(out, f"{name}.png")) as stream:
            stream.write(picture)
    return page


def _page(grids: Sequence[PaperGrid], results: Sequence[CellResult], cipher_options: Mapping[str, str]) -> str:
    seeds = len(results[0].result.seeds)
    lines = [
        "# Tables 1 to 7 of Zhao & Williams (2023), reproduced",
        "",
        f"Cells show the accuracy in percent, mean ± standard deviation over {seeds} seed{'s' * (seeds > 1)}, with the "
        "weighted F1 in parentheses. Columns have b bits and window r (the paper's radius), and rows the number of "
        "tokens (B: billions). The paper's scores are of one probe each, with the paper's text, words and data splits.",
    ]
    if cipher_options:
        given = ", ".join(f"{name} {value}" for name, value in cipher_options.items())
        lines += ["", f"Options of the vectors that differ from the default: {given}."]
    lines += _table_1(results)
    for grid in grids:
        models = grid_models(grid)
        rows = [
            [_tokens(build.tokens), *(_scores(results, build, model, grid.task) for model in models)]
            for build in builds_of(results)
        ]
        rows += [
            [f"paper, {size:g} B", *(f"{accuracy:.2f} ({f1:.2f})" for accuracy, f1 in cells)]
            for size, cells in grid.rows.items()
        ]
        title = f"## Table {grid.table}: {TITLES[grid.mode]}, {TASK_TITLES[grid.task]}"
        lines += ["", title, "", _table(["text", *(_column(model) for model in models)], rows)]
    lines += _other_models(results)
    lines += ["", "## Figure 1: all codes of 5 bits", "", "![Figure 1](figure-1.png)"]
    lines += ["", "## Figure 3: bits and size of the text, window 4", "", "![Figure 3](figure-3.png)"]
    return "\n".join(lines) + "\n"


def _table_1(results: Sequence[CellResult]) -> list[str]:
    """Return Table 1: models of 200 dimensions from the largest build, vectors of other tools, and the paper's."""
    tasks = [task for task in TASK_TITLES if any(cell.result.task == task for cell in results)]
    largest, published = builds_of(results)[-1], paper_tables().models
    sources = {name: (largest, model) for name, model in MODELS_OF_TABLE_1.items()}
    peers = {id(cell.source): cell.source for cell in results if isinstance(cell.source, PeerVectors)}
    sources |= {peer.title: (peer, VectorModel(mode=FILE)) for peer in peers.values()}
    rows = []
    for name in dict.fromkeys([*published, *sources]):
        scores = [_scores(results, *sources[name], task) if name in sources else "" for task in tasks]
        papers = ["{:.2f} ({:.2f})".format(*published[name][task]) if name in published else "" for task in tasks]
        rows.append([name, *(cell for pair in zip(scores, papers, strict=True) for cell in pair)])
    header = ["model", *(title for task in tasks for title in (TASK_TITLES[task], "paper"))]
    caption = (
        f"Vectors of 200 dimensions from {_tokens(largest.tokens)}: Cipher has 200 bits and no context, Sum 200 bits "
        "and window 4, Cat 25 bits and window 4. The other rows are vectors of other tools."
    )
    return ["", "## Table 1", "", caption, "", _table(header, rows)]


def _other_models(results: Sequence[CellResult]) -> list[str]:
    tasks = list(dict.fromkeys(cell.result.task for cell in results))
    rows = []
    for build in builds_of(results):
        for model in build.extra_models():
            cells = {cell.result.task: cell for cell in results if cell.source is build and cell.model == model}
            size = next(iter(cells.values())).dimensions
            name = TITLES.get(model.mode, model.mode)
            rows.append([_tokens(build.tokens), name, str(size), *(cells[task].scores for task in tasks)])
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
            "tokens": cell.source.tokens if isinstance(cell.source, CountedBuild) else None,
            "mode": cell.source.title if isinstance(cell.source, PeerVectors) else cell.model.mode,
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


def _scores(results: Sequence[CellResult], source: CountedBuild | PeerVectors, model: VectorModel, task: str) -> str:
    cell = find_cell(results, source, model, task)
    return cell.scores if cell else ""


def _column(model: VectorModel) -> str:
    return f"b = {model.bits}" + (f", r = {model.window}" if model.mode == "sum" else "")


def _tokens(tokens: int) -> str:
    return f"{tokens:,} tokens"

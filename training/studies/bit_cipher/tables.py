"""Tables 1 to 7 and Figures 1 and 3 of Zhao & Williams (2023), *Bit Cipher*, from the stored counts of builds.

Each build gives the row of one corpus size. The output directory has `tables.md`, `tables.csv` and `tables.parquet`
with one row per table cell, the figures, and `cells/`, from which an interrupted run resumes.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence

from bitcipher.errors import BitcipherError
from training.evaluation.probes.data import TaskData
from training.evaluation.probes.probe_scores import ProbeResult, probe
from training.studies.bit_cipher.cell_results import CellResult
from training.studies.bit_cipher.cells import Cell, read_cell, write_cell
from training.studies.bit_cipher.paper_tables import PaperGrid, paper_tables
from training.studies.bit_cipher.table_files import write_tables
from training.studies.bit_cipher.vector_models import FILE, CountedBuild, PeerVectors, VectorModel, grid_models


def reproduce_tables(
    builds: Sequence[str],
    tasks: Sequence[TaskData],
    out: str,
    seeds: Sequence[int],
    begin: Callable[[int], Callable[[str], None]] = lambda total: lambda note: None,
    grids: Sequence[PaperGrid] | None = None,
    cipher_options: Mapping[str, str] | None = None,
    peers: Sequence[str] = (),
) -> str:
    """Compute the tables of Zhao & Williams (2023) from builds, and write them next to the published scores.

    Args:
        builds: directories of builds with counts per offset and a window of at least 4. Each build is one row; rows are
            ordered by number of tokens.
        tasks: probing tasks.
        out: output directory; its finished cells are reused.
        seeds: seeds of the probes of each cell.
        begin: called with the number of cells; the function that it returns is called with the name of each finished
            cell.
        grids: tables of the paper to compute, of Tables 2 to 7; all by default.
        cipher_options: options of all vectors computed here: `noise`, `noise_over` and `log` of `EmbeddingOptions`.
        peers: files or folders of vectors of other tools, which are further rows of Table 1.

    Returns:
        The URI of the Markdown page.

    Raises:
        BitcipherError: if a directory is not a build with these counts, two builds have the same counts, or a file has
            no vectors.
    """
    options = cipher_options or {}
    opened = sorted((CountedBuild.open(build, options) for build in builds), key=lambda build: build.tokens)
    if len({str(build.digests) for build in opened}) < len(opened):
        raise BitcipherError("Two of the builds have the same counts; give only one of them.")
    by_name = {task.name: task for task in tasks}
    grids = [grid for grid in grids or paper_tables().grids if grid.task in by_name]
    cells: list[tuple[CountedBuild | PeerVectors, VectorModel, Sequence[TaskData]]] = [
        (build, model, [task for task in tasks if model in _models(grids, build, task.name)])
        for build in opened
        for model in dict.fromkeys(model for task in tasks for model in _models(grids, build, task.name))
    ]
    cells += [(PeerVectors.open(peer), VectorModel(mode=FILE), tasks) for peer in peers]
    advance = begin(sum(len(model_tasks) for _, _, model_tasks in cells))
    results: list[CellResult] = []
    for source, model, model_tasks in cells:
        for dimensions, cell, result in _finish(source, model, model_tasks, out, tuple(seeds)):
            results.append(CellResult(source, model, dimensions, result))
            advance(f"{cell.task.name} {model.mode} {model.bits or ''}")
    return write_tables(out, grids, results, options)


def _models(grids: Sequence[PaperGrid], build: CountedBuild, task: str) -> list[VectorModel]:
    return [model for grid in grids if grid.task == task for model in grid_models(grid)] + build.extra_models()


def _finish(
    source: CountedBuild | PeerVectors,
    model: VectorModel,
    tasks: Sequence[TaskData],
    out: str,
    seeds: tuple[int, ...],
) -> Iterator[tuple[int, Cell, ProbeResult]]:
    """Yield the results of a model on tasks; its vectors are computed once, and only if a result is missing."""
    vectors = None
    for task in tasks:
        cell = Cell(source, model, task, seeds)
        stored = read_cell(out, cell)
        if stored is None:
            vectors = vectors or source.vectors(model)
            stored = vectors.vector_size, probe(vectors, task, seeds)
            write_cell(out, cell, *stored)
        yield stored[0], cell, stored[1]

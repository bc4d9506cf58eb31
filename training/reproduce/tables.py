"""Tables 2 to 7 of the paper from kept counts: every cell embedded and probed once, then written side by side.

The sizes of text are those of the builds. The folder gets `tables.md` to read, `tables.csv` and `tables.parquet` with a
row a cell, and `cells/`, from which a run that was stopped goes on.
"""

from collections.abc import Callable, Iterator, Sequence

from bitcipher.errors import BitcipherError
from training.probes.data import TaskData
from training.probes.paper import PaperGrid, paper_tables
from training.probes.probe import ProbeResult, probe
from training.reproduce.cells import Cell, read_cell, write_cell
from training.reproduce.models import CountedBuild, VectorModel, grid_models
from training.reproduce.table_files import CellResult, write_tables


def reproduce_tables(
    builds: Sequence[str],
    tasks: Sequence[TaskData],
    out: str,
    seeds: Sequence[int],
    begin: Callable[[int], Callable[[str], None]] = lambda total: lambda note: None,
    grids: Sequence[PaperGrid] | None = None,
) -> str:
    """Fill the paper's grids from builds, and write them beside the paper's numbers.

    Args:
        builds: folders of builds that counted radius 4 or more with offsets told apart; one row each, by tokens.
        tasks: what to probe for.
        out: the folder of tables; finished cells in it are kept and not done again.
        seeds: one probe for each, in every cell.
        begin: called with the number of cells; what it gives is called with each one's name when it is finished.
        grids: which of the paper's tables; all by default.

    Returns:
        The URI of the Markdown page.

    Raises:
        BitcipherError: if something is no such build, or two builds have the same counts.
    """
    opened = sorted((CountedBuild.open(build) for build in builds), key=lambda build: build.tokens)
    if len({str(build.digests) for build in opened}) < len(opened):
        raise BitcipherError("Two of the builds hold the same counts: name each size of text once.")
    by_name = {task.name: task for task in tasks}
    grids = [grid for grid in grids or paper_tables().grids if grid.task in by_name]
    wanted = [
        (build, model, [task for task in tasks if model in _models(grids, build, task.name)])
        for build in opened
        for model in dict.fromkeys(model for task in tasks for model in _models(grids, build, task.name))
    ]
    advance = begin(sum(len(asked) for _, _, asked in wanted))
    figures: list[CellResult] = []
    for build, model, asked in wanted:
        for dimensions, cell, result in _finish(build, model, asked, out, tuple(seeds)):
            figures.append(CellResult(build, model, dimensions, result))
            advance(f"{cell.task.name} {model.mode} {model.bits or ''}")
    return write_tables(out, grids, figures)


def _models(grids: Sequence[PaperGrid], build: CountedBuild, task: str) -> list[VectorModel]:
    return [model for grid in grids if grid.task == task for model in grid_models(grid)] + build.extra_models()


def _finish(
    build: CountedBuild, model: VectorModel, tasks: Sequence[TaskData], out: str, seeds: tuple[int, ...]
) -> Iterator[tuple[int, Cell, ProbeResult]]:
    """Each task's figures of a model; the vectors are made only if one is missing, and once."""
    vectors = None
    for task in tasks:
        cell = Cell(build, model, task, seeds)
        kept = read_cell(out, cell)
        if kept is None:
            vectors = vectors or build.vectors(model)
            kept = vectors.vector_size, probe(vectors, task, seeds)
            write_cell(out, cell, *kept)
        yield kept[0], cell, kept[1]

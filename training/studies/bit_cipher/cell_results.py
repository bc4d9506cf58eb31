"""`CellResult`: the scores of a table cell."""

from collections.abc import Iterable
from dataclasses import dataclass

from training.evaluation.probes.probe_scores import ProbeResult
from training.studies.bit_cipher.vector_models import CountedBuild, PeerVectors, VectorModel


@dataclass(frozen=True)
class CellResult:
    """Scores of one table cell, with the vectors and the build or file that they belong to."""

    source: CountedBuild | PeerVectors
    model: VectorModel
    dimensions: int
    result: ProbeResult

    @property
    def scores(self) -> str:
        """Accuracy in percent, mean ± standard deviation, with the weighted F1 in parentheses."""
        accuracy, f1 = self.result.mean("accuracy"), self.result.mean("weighted_f1")
        spread = f" ± {100 * self.result.spread('accuracy'):.2f}" if len(self.result.seeds) > 1 else ""
        return f"{100 * accuracy:.2f}{spread} ({100 * f1:.2f})"


def builds_of(results: Iterable[CellResult]) -> list[CountedBuild]:
    """Return the builds of results, each once, in the order of the results."""
    return list({id(cell.source): cell.source for cell in results if isinstance(cell.source, CountedBuild)}.values())


def find_cell(
    results: Iterable[CellResult], source: CountedBuild | PeerVectors, model: VectorModel, task: str
) -> CellResult | None:
    """Return the result of vectors on a task, or None if it was not computed."""
    found = (cell for cell in results if cell.source is source and cell.model == model and cell.result.task == task)
    return next(found, None)

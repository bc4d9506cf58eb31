"""Report of a version: the cost of each stage."""

from bitcipher.files.records import Count
from pipelines.runtime.costs import CostReport
from pipelines.store.layout import REPORT
from pipelines.store.manifest import BuildManifest


class BuildReport(CostReport):
    """Costs of the job that made a version."""

    tokens: Count
    """Number of tokens that the job counted."""


def read_report(build: str, manifest: BuildManifest) -> BuildReport:
    """Return the report of a version.

    Raises:
        BitcipherError: if the file is missing or damaged.
    """
    return BuildReport.read(manifest.file(build, REPORT))

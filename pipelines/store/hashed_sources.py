"""Hashes of the sources of an unfinished job, so a later attempt does not read finished sources again to hash them."""

from collections.abc import Sequence
from contextlib import suppress

from bitcipher import storage
from bitcipher.errors import BitcipherError
from bitcipher.record_table import read_records, write_records
from pipelines.ingest.sources import Source
from pipelines.store.job_ledger import HASHED, JobEntry, job_ledger
from pipelines.store.version_tables import KINDS


def record_hashes(build: str, job: JobEntry, attempt: str, sources: Sequence[Source]) -> None:
    """Record the hashes of the sources that an attempt of a job has read.

    Args:
        build: folder of the build.
        job: the job.
        attempt: unique name of the attempt.
        sources: the listed sources, with content hashes.

    Raises:
        BitcipherError: if they cannot be written.
    """
    # Only sources that this attempt has read have block hashes. Those without a stamp are read again in any case.
    hashed = [source for source in sources if source.block_hashes and source.stamp]
    if hashed:
        reference = write_records(_table_uri(build, job, attempt), hashed, KINDS["sources"].schema)
        job_ledger(build, job).record(HASHED, attempt, reference)


def recorded_hashes(build: str, job: JobEntry) -> list[Source]:
    """Return the sources that earlier attempts of a job have hashed. Those of a damaged table are left out.

    Raises:
        BitcipherError: if an entry is of another version of bitcipher, or cannot be read.
    """
    sources: list[Source] = []
    for attempt, reference in job_ledger(build, job).entries(HASHED).items():
        with suppress(BitcipherError):
            sources += read_records(_table_uri(build, job, attempt), reference, Source)
    return sources


def _table_uri(build: str, job: JobEntry, attempt: str) -> str:
    return storage.join(job_ledger(build, job).uri, HASHED.name, f"{attempt}.parquet")

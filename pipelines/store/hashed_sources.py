"""Hashes of the sources of an unfinished job, so a later attempt does not read finished sources again to hash them."""

import uuid
from collections.abc import Sequence
from contextlib import suppress

from bitcipher.errors import BitcipherError
from bitcipher.files import storage
from bitcipher.files.record_table import read_records, write_records
from pipelines.ingest.content_hash import hash_sources
from pipelines.ingest.sources import Source
from pipelines.runtime.runtime import Runtime
from pipelines.store.build_folder import HASHED
from pipelines.store.ledger import Ledger
from pipelines.store.version_tables import KINDS


def hash_for_job(
    listed: Sequence[Source], known: Sequence[Source], ledger: Ledger, runtime: Runtime, rehash: bool = False
) -> list[Source]:
    """Return the sources with their content hashes, and record those that are read for them in the ledger of the job.

    Args:
        listed: the listed sources.
        known: sources with hashes (see `hash_sources`). Those that the ledger has are known, too.
        ledger: ledger of the job.
        runtime: runtime of the stage that reads the remaining files.
        rehash: read all files, also those that are known.

    Raises:
        BitcipherError: if a source has changed since it was listed, or a file cannot be read or written.
    """
    sources = hash_sources(listed, [] if rehash else [*known, *_recorded(ledger)], runtime)
    # Only sources that were read now have block hashes. Those without a stamp are read again in any case.
    hashed = [source for source in sources if source.block_hashes and source.stamp]
    if hashed:
        key = uuid.uuid4().hex
        ledger.record(HASHED, key, write_records(_table_uri(ledger, key), hashed, KINDS["sources"].schema))
    return sources


def _recorded(ledger: Ledger) -> list[Source]:
    """Return the sources that earlier attempts have hashed. Those of a damaged table are left out."""
    sources: list[Source] = []
    for key, reference in ledger.entries(HASHED).items():
        with suppress(BitcipherError):
            sources += read_records(_table_uri(ledger, key), reference, Source)
    return sources


def _table_uri(ledger: Ledger, key: str) -> str:
    return storage.join(ledger.uri, HASHED.name, f"{key}.parquet")

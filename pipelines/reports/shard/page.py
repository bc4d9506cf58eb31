"""Report of document shards: a page with the funnel from records to documents, and examples of each reason."""

from pathlib import Path
from typing import NamedTuple

from bitcipher.files import storage
from pipelines.reports.pages.rendering import render_page
from pipelines.shard.accounts import Accounts, most_frequent
from pipelines.shard.manifest import DocumentManifest
from pipelines.shard.shard_corpus import REPORT
from pipelines.shard.unused_options import describe_unused

# Number of rows of the tables of languages and hosts.
ROWS = 15


class FunnelStep(NamedTuple):
    """One line of the funnel."""

    name: str
    kind: str
    """`dropped`, `skipped` or `quarantined`."""
    records: int
    left: int
    """Number of records that are left after the step."""


def write_shard_report(folder: str, manifest: DocumentManifest) -> str:
    """Write the report of a folder of document shards, and return its URI.

    Args:
        folder: folder of the document shards.
        manifest: manifest of the version to describe.

    Raises:
        BitcipherError: if the page cannot be written.
    """
    here = Path(__file__).parent
    accounts = manifest.accounts
    content = render_page(
        here / "page.html",
        [],
        [here / "page.css"],
        title=f"Document shards, version {manifest.version}",
        numbers={
            "records read": f"{accounts.records:,}",
            "documents kept": f"{accounts.kept:,}",
            "words": f"{accounts.words:,}",
            "text": f"{accounts.text_bytes / 1e6:,.1f} MB",
            "shards": f"{manifest.tables.files.rows:,}",
            "sources": f"{manifest.tables.sources.rows:,}",
        },
        records=accounts.records,
        kept=accounts.kept,
        steps=make_funnel(accounts),
        changed=accounts.changed,
        languages=most_frequent({name or "unknown": count for name, count in accounts.languages.items()}, ROWS),
        hosts=most_frequent(accounts.hosts, ROWS),
        examples=accounts.examples,
        replacements=accounts.replacements,
        decisions=most_frequent(accounts.decisions),
        textless=accounts.textless,
        unused=describe_unused(manifest.options, accounts),
    )
    uri = storage.join(folder, REPORT)
    with storage.writing(uri) as stream:
        stream.write(content)
    return uri


def make_funnel(accounts: Accounts) -> list[FunnelStep]:
    """Return the steps of the funnel: skipped, quarantined and dropped records, the most frequent reasons first."""
    steps, left = [], accounts.records
    for kind in ("skipped", "quarantined", "dropped"):
        for reason, records in most_frequent(getattr(accounts, kind)).items():
            left -= records
            steps.append(FunnelStep(reason, kind, records, left))
    return steps

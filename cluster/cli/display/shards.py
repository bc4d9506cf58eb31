"""Output of `bitcipher shard` and `bitcipher sample`."""

from collections.abc import Iterable

from cluster.cli.display.builds import print_changes
from cluster.cli.display.console import OUT, format_count, format_share, format_word, list_examples
from cluster.cli.display.records import describe_reading, describe_replacements
from cluster.cli.display.tables import TextTable
from pipelines.reports.shard.page import make_funnel
from pipelines.shard.sample import SampledRecord
from pipelines.shard.shard_corpus import ShardResult
from pipelines.shard.unused_options import describe_unused

# Maximum number of documents to list that come back.
RETURNED = 20


def print_shards(result: ShardResult, out: str, report: str, *, replace: bool) -> None:
    """Print a summary of document shards.

    Args:
        result: result of `shard_corpus`.
        out: directory of the document shards.
        report: URI of the report.
        replace: whether documents of changed sources are replaced.
    """
    manifest, accounts = result.manifest, result.manifest.accounts
    print_changes(result.changes, replace)
    if not result.is_new:
        OUT.print(f"Nothing is new: version {manifest.version} is up to date.")
        return
    table = TextTable("records", "", "share")
    table.add_row("read", f"{accounts.records:,}", "")
    for step in make_funnel(accounts):
        table.add_row(f"  {step.kind}: {step.name}", f"{step.records:,}", format_share(step.records / accounts.records))
    table.add_row("kept", f"{accounts.kept:,}", format_share(accounts.kept / max(accounts.records, 1)))
    table.print()
    if result.returned:
        names = [document.url or f"{document.source}:{document.offset}" for document in result.returned]
        OUT.print(f"\n{format_count(len(names), 'document')} came back: {list_examples(names, RETURNED)}")
    lines = (
        describe_replacements(accounts.replacements),
        *describe_reading(accounts.decisions, accounts.textless),
        describe_unused(manifest.options, accounts),
    )
    for line in filter(None, lines):
        OUT.print(line)
    documents = format_count(accounts.kept, "document")
    shards = format_count(manifest.tables.files.rows, "shard")
    OUT.print(
        f"\nVersion {manifest.version}: {documents} with {format_count(accounts.words, 'word')} in {shards} → {out}\n"
        f"Report: {report}"
    )


def print_sample(sample: Iterable[SampledRecord], characters: int) -> None:
    """Print the documents of a sample.

    Args:
        sample: the records.
        characters: maximum number of characters to print per document.
    """
    for source, record in sample:
        document = record.document
        details = [each for each in (document.url, document.date, document.language) if each]
        if record.changed:
            details.append(f"changed by {', '.join(record.changed)}")
        if record.dropped is not None:
            details.append(f"dropped: {record.dropped}")
        OUT.print(f"── {format_word(source)}:{record.offset}")
        OUT.print("   " + " · ".join(details) if details else "")
        text = document.text[:characters]
        printable = "".join(each if each.isprintable() or each == "\n" else repr(each)[1:-1] for each in text)
        OUT.print(printable + ("…" if len(document.text) > characters else "") + "\n")

"""Cleaning stage: reads the sources of a task, applies the rules, and writes cleaned documents and their keys."""

import hashlib
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import pyarrow as pa

from bitcipher.files import parquet_files, storage
from bitcipher.files.records import FROM_LIST, Count, Record, Strings
from pipelines.clean.registry import load_rules
from pipelines.duplicates.keys import compute_keys
from pipelines.ingest.documents import read_whole_records
from pipelines.ingest.quarantine import Quarantine
from pipelines.ingest.record_counts import TEXTLESS
from pipelines.ingest.source_changes import check_unchanged
from pipelines.ingest.source_groups import group_sources
from pipelines.ingest.sources import Source
from pipelines.shard.accounts import EXAMPLE_CHARACTERS, EXAMPLES, Accounts, Example, first_examples
from pipelines.shard.clean_record import EMPTY, CleanedRecord, clean_record
from pipelines.shard.document_table import DOCUMENTS, DROPPED, QUARANTINED, digest_bytes, encode_text
from pipelines.shard.key_kinds import key_tables
from pipelines.shard.options import ShardOptions
from pipelines.store.ledger import EntryKind, Ledger


@dataclass(frozen=True)
class ShardTask:
    """Sources that one worker reads in sequence."""

    id: str
    """Hash of the content of the sources and the shard size."""
    sources: tuple[Source, ...]


class CleanedFile(Record):
    """Cleaned documents of about one shard, in the folder of temporary files."""

    name: str
    documents: Count


class CleanedTask(Record):
    """Ledger entry of a task whose documents are cleaned."""

    id: str
    files: Annotated[tuple[CleanedFile, ...], FROM_LIST]
    dropped_files: Strings
    quarantine_file: str | None
    accounts: Accounts
    """The documents that are kept by the rules count as kept."""


# Accounts that are counted by name.
COUNTS = ("dropped", "skipped", "quarantined", "changed", "decisions")

CLEANED_TASKS = EntryKind("clean", CleanedTask)


def plan_tasks(sources: Sequence[Source], options: ShardOptions) -> list[ShardTask]:
    """Group sources with content hashes into tasks, each with the text of about one shard."""
    shard_bytes = options.shard_mib << 20
    return [ShardTask(_task_id(group, shard_bytes), group) for group in group_sources(sources, shard_bytes)]


def _task_id(sources: tuple[Source, ...], shard_bytes: int) -> str:
    content = "\n".join([*(f"{source.sha256} {source.format}" for source in sources), str(shard_bytes)])
    return hashlib.sha256(content.encode()).hexdigest()[:20]


class CleanStage:
    """Stage that cleans the documents of a task.

    Args:
        work: folder of temporary files.
        ledger: URI of the ledger.
        options: options of the document shards.
    """

    def __init__(self, work: str, ledger: str, options: ShardOptions):
        self._work = work
        self._ledger = Ledger(ledger)
        self._options = options
        load_rules(options.rules)

    def __call__(self, task: ShardTask) -> Iterator[CleanedTask]:
        """Yield the cleaned task."""
        writer = _TaskWriter(self._work, task.id, self._options)
        for source in task.sources:
            quarantine = Quarantine(source.uri, self._options.max_bad_share)
            for raw, text in read_whole_records(source, self._options, quarantine):
                writer.add(clean_record(raw, text, self._options.rules), source)
            writer.add_quarantine(source, quarantine)
        cleaned = writer.finish()
        check_unchanged(task.sources)
        yield self._ledger.record(CLEANED_TASKS, task.id, cleaned)


class _TaskWriter:
    """Writer of the cleaned, dropped and quarantined records of a task."""

    def __init__(self, work: str, task: str, options: ShardOptions):
        self._work = work
        self._task = task
        self._options = options
        self._kept = _Rows(DOCUMENTS)
        self._dropped = _Rows(DROPPED)
        self._hosts: list[str] = []
        self._quarantined: list[dict[str, Any]] = []
        self._files: list[CleanedFile] = []
        self._dropped_files: list[str] = []
        self._counts: dict[str, Counter[str]] = {name: Counter() for name in COUNTS}
        self._examples: dict[str, list[Example]] = {}
        self._read = self._replacements = self._without_host = 0
        self._textless: list[str] = []

    def add(self, record: CleanedRecord, source: Source) -> None:
        self._counts["changed"].update(record.changed)
        self._without_host += record.dropped != EMPTY and not record.document.host
        if record.dropped is not None:
            self._drop(record, source, record.dropped)
            return
        self._kept.add(_row(record, source))
        self._hosts.append(record.document.host)
        if self._kept.text_bytes >= self._options.shard_mib << 20:
            self._flush_kept()

    def _drop(self, record: CleanedRecord, source: Source, reason: str) -> None:
        document = record.document
        self._counts["dropped"][reason] += 1
        digest = digest_bytes(encode_text(document.text))
        examples = self._examples.setdefault(reason, [])
        if len(examples) < EXAMPLES or digest < examples[-1].digest:
            excerpt = document.text[:EXAMPLE_CHARACTERS].encode(errors="replace").decode()
            examples.append(Example(digest=digest, url=document.url, excerpt=excerpt))
            self._examples[reason] = list(first_examples(examples))
        if self._options.keep_dropped:
            self._dropped.add({**_row(record, source), "reason": reason})
            if self._dropped.text_bytes >= self._options.shard_mib << 20:
                self._flush_dropped()

    def add_quarantine(self, source: Source, quarantine: Quarantine) -> None:
        self._read += quarantine.read
        self._counts["quarantined"].update(quarantine.reasons)
        self._counts["skipped"].update(quarantine.skip_reasons)
        self._counts["decisions"].update(quarantine.decisions)
        self._textless += quarantine.counts.textless
        self._replacements += quarantine.replacements
        for bad in quarantine.kept:
            details = {name: getattr(bad, name) for name in ("offset", "reason", "message", "excerpt")}
            self._quarantined.append({"source": source.uri, **details})

    def finish(self) -> CleanedTask:
        if self._kept.rows:
            self._flush_kept()
        if self._dropped.rows:
            self._flush_dropped()
        kept = sum(file.documents for file in self._files)
        accounts = Accounts(
            records=self._read,
            kept=kept,
            **{name: dict(counts) for name, counts in self._counts.items()},
            replacements=self._replacements,
            textless=tuple(sorted(self._textless)[:TEXTLESS]),
            without_host=self._without_host,
            examples={reason: tuple(examples) for reason, examples in self._examples.items()},
        )
        accounts.check(f"task {self._task}")
        return CleanedTask(
            id=self._task,
            files=tuple(self._files),
            dropped_files=tuple(self._dropped_files),
            quarantine_file=self._write_quarantine(),
            accounts=accounts,
        )

    def _flush_kept(self) -> None:
        name = f"{self._task}-{len(self._files):05d}"
        table = self._kept.take()
        parquet_files.write_table(storage.join(self._work, "documents", f"{name}.parquet"), table)
        hosts = pa.array(self._hosts, pa.string())
        self._hosts = []
        keys = compute_keys(table["text"], 0, self._options.duplicates, hosts)
        for kind, rows in key_tables(keys, self._options.duplicates).items():
            parquet_files.write_table(storage.join(self._work, "keys", kind, f"{name}.parquet"), rows)
        self._files.append(CleanedFile(name=name, documents=len(table)))

    def _flush_dropped(self) -> None:
        name = f"dropped/{self._task}-{len(self._dropped_files):05d}.parquet"
        parquet_files.write_table(storage.join(self._work, name), self._dropped.take())
        self._dropped_files.append(name)

    def _write_quarantine(self) -> str | None:
        if not self._quarantined:
            return None
        name = f"quarantine/{self._task}.parquet"
        parquet_files.write_table(storage.join(self._work, name), pa.Table.from_pylist(self._quarantined, QUARANTINED))
        return name


class _Rows:
    """Rows of a table in memory. Texts are UTF-8, which needs less memory than strings."""

    def __init__(self, schema: pa.Schema):
        self._schema = schema
        self.rows: list[dict[str, Any]] = []
        self.text_bytes = 0

    def add(self, row: dict[str, Any]) -> None:
        self.rows.append(row)
        self.text_bytes += len(row["text"])

    def take(self) -> pa.Table:
        """Return the table of all rows, and remove them."""
        columns = [pa.array([row[field.name] for row in self.rows], field.type) for field in self._schema]
        self.rows, self.text_bytes = [], 0
        return pa.table(columns, schema=self._schema)


def _row(record: CleanedRecord, source: Source) -> dict[str, Any]:
    document = record.document
    content = encode_text(document.text)
    return {
        "text": content,
        "url": document.url,
        "date": document.date,
        "language": document.language,
        "source": source.uri,
        "offset": record.offset,
        "digest": digest_bytes(content),
        "words": len(document.text.split()),
    }

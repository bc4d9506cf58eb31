"""Writing stage: removes duplicates from the cleaned documents of a task, and writes its document shards."""

from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from bitcipher.files import parquet_files, storage
from bitcipher.files.hashed_files import hashing
from bitcipher.files.records import FROM_LIST, Record, Strings
from pipelines.clean.document import host_of
from pipelines.duplicates.keys import compute_keys
from pipelines.ingest.document_folder import DocumentFile
from pipelines.shard.accounts import (
    EXAMPLE_CHARACTERS,
    HOSTS,
    Accounts,
    Example,
    first_examples,
    most_frequent,
    sum_accounts,
)
from pipelines.shard.clean_stage import CleanedFile, CleanedTask
from pipelines.shard.document_table import DOCUMENTS, digest_bytes, encode_text, write_named
from pipelines.shard.key_kinds import key_kinds, key_tables
from pipelines.shard.options import ShardOptions

# Number of hosts that are counted per task.
HOSTS_PER_TASK = 10 * HOSTS

# Reason of documents whose lines were all removed as repetitions.
ONLY_REPEATED = "only repeated lines"


@dataclass(frozen=True)
class WriteInput:
    """A cleaned task, and what is removed from each of its files."""

    task: CleanedTask
    dropped: tuple[pa.Table, ...]
    """Per file: `row`, `kept_task` and `reason`."""
    lines: tuple[pa.Table, ...]
    """Per file: `row` and `position`."""

    @property
    def id(self) -> str:
        """Id of the task."""
        return self.task.id


class WrittenTask(Record):
    """A task whose document shards are written."""

    id: str
    files: Annotated[tuple[DocumentFile, ...], FROM_LIST]
    dropped_files: Strings
    quarantine_files: Strings
    accounts: Accounts
    copies_of: Strings
    """Ids of the tasks with documents that were kept instead of documents of this task, sorted."""


class WriteStage:
    """Stage that writes the document shards of a task.

    Args:
        out: folder of the document shards.
        work: folder of the cleaned documents.
        version: number of the version.
        options: options of the document shards.
    """

    def __init__(self, out: str, work: str, version: int, options: ShardOptions):
        self._out = out
        self._work = work
        self._version = version
        self._options = options

    def __call__(self, item: WriteInput) -> Iterator[WrittenTask]:
        """Yield the written task."""
        task = item.task
        files, dropped_files, accounts = [], [], []
        for file, dropped, lines in zip(task.files, item.dropped, item.lines, strict=True):
            table = parquet_files.read_table(storage.join(self._work, "documents", f"{file.name}.parquet"))
            table, reasons = _remove(table, dropped, lines)
            is_kept = np.array([reason is None for reason in reasons], bool)
            kept = table.filter(pa.array(is_kept))
            accounts.append(_account(kept, table, reasons))
            if len(kept):
                files.append(self._write_documents(file, kept, is_kept, has_changed=len(lines) > 0))
            if self._options.keep_dropped and not is_kept.all():
                rows = table.append_column("reason", pa.array(reasons, pa.string())).filter(pa.array(~is_kept))
                dropped_files.append(self._write("dropped", file.name, rows))
        total = _join_accounts(task.accounts, sum_accounts(accounts))
        total.check(f"task {task.id}")
        yield WrittenTask(
            id=task.id,
            files=tuple(files),
            dropped_files=(*self._copy("dropped", task.dropped_files), *dropped_files),
            quarantine_files=self._copy("quarantine", (task.quarantine_file,) if task.quarantine_file else ()),
            accounts=total,
            copies_of=tuple(sorted({name for table in item.dropped for name in table["kept_task"].to_pylist()})),
        )

    def _write_documents(
        self, file: CleanedFile, kept: pa.Table, is_kept: np.ndarray, *, has_changed: bool
    ) -> DocumentFile:
        name, sha256, size = write_named(self._out, "documents", f"{self._version:06d}-{file.name}", kept)
        keys = self._read_keys(file, is_kept)
        if has_changed:
            # Without the hosts: removed lines still count, so that they are removed from later documents too.
            options = self._options.duplicates.copy_with(host_lines=None)
            keys |= key_tables(compute_keys(kept["text"], 0, options), options)
        key_hashes = {}
        for kind, table in keys.items():
            with hashing(storage.join(self._out, "keys", kind, name.rpartition("/")[2])) as stream:
                parquet_files.write_parquet(stream, table)
            key_hashes[kind] = stream.sha256
        return DocumentFile(
            name=name,
            size=size,
            sha256=sha256,
            key_hashes=key_hashes,
            documents=len(kept),
            words=sum(kept["words"].to_pylist()),
            text_bytes=_text_bytes(kept),
        )

    def _read_keys(self, file: CleanedFile, is_kept: np.ndarray) -> dict[str, pa.Table]:
        """Return the keys of the kept documents of a file, by kind."""
        keys = {
            kind: parquet_files.read_table(storage.join(self._work, "keys", kind, f"{file.name}.parquet"))
            for kind in key_kinds(self._options.duplicates)
        }
        return {kind: _select_keys(table, is_kept) for kind, table in keys.items()}

    def _copy(self, kind: str, names: tuple[str, ...]) -> tuple[str, ...]:
        """Copy temporary files to their final names."""
        tables = ((name, parquet_files.read_table(storage.join(self._work, name))) for name in names)
        return tuple(
            self._write(kind, name.rpartition("/")[2].removesuffix(".parquet"), table) for name, table in tables
        )

    def _write(self, kind: str, name: str, table: pa.Table) -> str:
        return write_named(self._out, kind, f"{self._version:06d}-{name}", table)[0]


def _remove(table: pa.Table, dropped: pa.Table, lines: pa.Table) -> tuple[pa.Table, list[str | None]]:
    """Remove lines, and return the documents and the reason to drop each, or None."""
    reasons: list[str | None] = [None] * len(table)
    for row, reason in zip(dropped["row"].to_pylist(), dropped["reason"].to_pylist(), strict=True):
        reasons[row] = reason
    if not len(lines):
        return table, reasons
    positions: dict[int, set[int]] = defaultdict(set)
    for row, position in zip(lines["row"].to_pylist(), lines["position"].to_pylist(), strict=True):
        positions[row].add(position)
    columns = {name: table[name].to_pylist() for name in ("text", "digest", "words")}
    for row, removed in positions.items():
        text_lines = columns["text"][row].split("\n")
        text = "\n".join(line for number, line in enumerate(text_lines) if number not in removed)
        columns["text"][row], columns["digest"][row], columns["words"][row] = (
            text,
            digest_bytes(encode_text(text)),
            len(text.split()),
        )
        if not text or text.isspace():
            reasons[row] = reasons[row] or ONLY_REPEATED
    for name, values in columns.items():
        field = DOCUMENTS.field(name)
        table = table.set_column(table.schema.get_field_index(name), field, pa.array(values, field.type))
    return table, reasons


def _account(kept: pa.Table, table: pa.Table, reasons: list[str | None]) -> Accounts:
    """Return the accounts of a file: its kept documents, and those dropped as duplicates."""
    examples: dict[str, list[Example]] = defaultdict(list)
    removed = table.filter(pa.array([reason is not None for reason in reasons], pa.bool_()))
    columns = (removed[name].to_pylist() for name in ("digest", "url", "text"))
    for reason, digest, url, text in zip(filter(None, reasons), *columns, strict=True):
        examples[reason].append(Example(digest=digest, url=url, excerpt=text[:EXAMPLE_CHARACTERS]))
    hosts = Counter(host_of(url) for url in kept["url"].to_pylist())
    del hosts[""]
    return Accounts(
        kept=len(kept),
        dropped=dict(Counter(reason for reason in reasons if reason is not None)),
        words=sum(kept["words"].to_pylist()),
        text_bytes=_text_bytes(kept),
        languages=dict(Counter(kept["language"].to_pylist())),
        hosts=most_frequent(hosts, HOSTS_PER_TASK),
        examples={reason: first_examples(found) for reason, found in examples.items()},
    )


def _join_accounts(cleaned: Accounts, written: Accounts) -> Accounts:
    """Return the accounts of a task: those of cleaning, without the duplicates among the kept documents."""
    return sum_accounts([cleaned.copy_with(kept=0), written])


def _select_keys(keys: pa.Table, is_kept: np.ndarray) -> pa.Table:
    """Return the keys of the kept documents, with the new rows of the documents."""
    rows = np.cumsum(is_kept) - 1
    document = keys["document"].to_numpy()
    selected = keys.filter(pa.array(is_kept[document]))
    column = selected.schema.get_field_index("document")
    renumbered = rows[selected["document"].to_numpy()].astype(np.uint64)
    return selected.set_column(column, "document", pa.array(renumbered))


def _text_bytes(table: pa.Table) -> int:
    return pc.sum(pc.binary_length(table["text"])).as_py() or 0

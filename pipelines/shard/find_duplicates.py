"""Search for duplicates: groups the keys of all documents, and decides which documents and lines to remove."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa

from bitcipher.errors import BitcipherError
from bitcipher.files import parquet_files, storage
from pipelines.duplicates.copies import (
    LINES,
    PAIRS,
    find_copies,
    find_host_lines,
    find_paragraph_copies,
    without_documents,
)
from pipelines.duplicates.decisions import DECISIONS, decide_documents, join_pairs, select_file
from pipelines.duplicates.keys import document_id
from pipelines.duplicates.near_pairs import find_near_pairs
from pipelines.duplicates.options import DuplicateOptions
from pipelines.runtime.grouping import GroupingRuntime
from pipelines.runtime.runtime import StageSpec
from pipelines.shard.key_kinds import KEY_SCHEMAS

# Bytes of memory per row of keys while a partition is searched: the row, and sorted copies of its columns.
BYTES_PER_KEY = 400

# Pairs are joined to clusters when there are this many, so that memory does not grow with the number of pairs.
MAX_PAIRS = 20_000_000


@dataclass(frozen=True)
class KeyFile:
    """Keys of one kind of the documents of a file."""

    kind: str
    """Kind of the keys."""
    uri: str
    file: int
    """Number of the file."""
    dropped: np.ndarray = field(default_factory=lambda: np.zeros(0, np.uint64))
    """(documents,) uint64, the ids of the documents of the file that are dropped."""


class ReadKeysStage:
    """Stage that reads the keys of a file."""

    def __call__(self, item: KeyFile) -> Iterator[pa.Table]:
        """Yield the keys, with document ids that contain the number of the file."""
        table = parquet_files.read_table(item.uri)
        if table.schema != KEY_SCHEMAS[item.kind]:
            raise BitcipherError(f"{item.uri} is damaged: it has other columns than keys. Restore it from a copy.")
        ids = table["document"].to_numpy() + np.uint64(document_id(item.file))
        column = table.schema.get_field_index("document")
        yield without_documents(table.set_column(column, "document", pa.array(ids)), item.dropped)


class FindStage:
    """Stage that finds duplicates of one kind in a partition of the keys.

    Args:
        kind: kind of duplicates.
        options: options with which the keys were computed.
        first_new: id of the first document that is not published.
    """

    def __init__(self, kind: str, options: DuplicateOptions, first_new: int):
        self._kind = kind
        self._options = options
        self._first_new = first_new

    def __call__(self, table: pa.Table) -> Iterator[pa.Table]:
        """Yield the pairs or the lines of a partition."""
        table = table.combine_chunks()
        if self._kind == "documents":
            yield find_copies(table, self._first_new)
        elif self._kind == "near" and self._options.near:
            yield find_near_pairs(table, self._options.near, self._first_new)
        elif self._kind == "paragraphs":
            yield find_paragraph_copies(table, self._first_new)
        elif self._options.host_lines:
            yield find_host_lines(table, self._options.host_lines.min_documents, self._first_new)


class DuplicateSearch:
    """Search for duplicates among new documents, and of new documents among published ones.

    Args:
        key_folders: folder of the keys of each file, published files first.
        names: name of each file in its folder. New files are sorted by a hash of the content of their sources.
        published: number of published files.
        options: options of the search.
        runtime: runtime that groups the keys.
        memory_bytes: memory of each worker.
    """

    def __init__(
        self,
        key_folders: Sequence[str],
        names: Sequence[str],
        published: int,
        options: DuplicateOptions,
        runtime: GroupingRuntime,
        memory_bytes: int,
    ):
        self._key_folders = key_folders
        self._names = names
        self._first_new = document_id(published)
        self._options = options
        self._runtime = runtime
        self._memory_bytes = memory_bytes
        self._decisions = DECISIONS.empty_table()
        self._lines = LINES.empty_table()

    def run(self) -> None:
        """Decide which new documents, and which lines of the others, are removed."""
        copies = self._find_pairs("documents") if self._options.documents else PAIRS.empty_table()
        near = self._find_pairs("near") if self._options.near else PAIRS.empty_table()
        self._decisions = decide_documents(copies, near, self._first_new)
        kinds = [kind for kind in ("paragraphs", "host_lines") if getattr(self._options, kind)]
        tables = [LINES.empty_table(), *(table for kind in kinds for table in self._find(kind))]
        lines = pa.concat_tables(tables)
        self._lines = lines.group_by(LINES.names).aggregate([]).sort_by([(name, "ascending") for name in LINES.names])

    def dropped_documents(self, file: int) -> pa.Table:
        """Return the rows of a file to drop: `row`, `kept` (the id of the document that is kept) and `reason`."""
        return select_file(self._decisions, file)

    def removed_lines(self, file: int) -> pa.Table:
        """Return the lines of a file to remove: `row` and `position`."""
        return select_file(self._lines, file)

    def _find_pairs(self, kind: str) -> pa.Table:
        """Return the clusters of one kind as `PAIRS`."""
        joined, tables, rows = PAIRS.empty_table(), [], 0
        for table in self._find(kind):
            tables.append(table)
            rows += len(table)
            if rows > MAX_PAIRS:
                joined, tables, rows = join_pairs(pa.concat_tables([joined, *tables]), self._first_new), [], 0
        # Pairs of all partitions are sorted, because a runtime returns them in any order.
        pairs = pa.concat_tables([joined, *tables])
        return pairs.sort_by([(name, "ascending") for name in ("document", "kept")])

    def _find(self, kind: str) -> Iterator[pa.Table]:
        inputs = [
            KeyFile(kind, storage.join(folder, kind, f"{name}.parquet"), file, self._dropped_ids(file))
            for file, (folder, name) in enumerate(zip(self._key_folders, self._names, strict=True))
        ]
        folders = {storage.join(folder, kind) for folder in self._key_folders}
        stored_bytes = sum(size for folder in folders for size in storage.list_files(folder).values())
        # Hashes do not compress, so a stored row has about the bytes of its columns.
        rows = stored_bytes // (8 * len(KEY_SCHEMAS[kind]))
        partitions = max(1, self._runtime.workers, -(-rows * BYTES_PER_KEY // self._memory_bytes))
        arguments = {"kind": kind, "options": self._options, "first_new": self._first_new}
        yield from self._runtime.group(
            StageSpec("keys", ReadKeysStage, {}), inputs, StageSpec("duplicates", FindStage, arguments), partitions
        )

    def _dropped_ids(self, file: int) -> np.ndarray:
        rows = select_file(self._decisions, file)["row"].to_numpy()
        return rows.astype(np.uint64) + np.uint64(document_id(file))

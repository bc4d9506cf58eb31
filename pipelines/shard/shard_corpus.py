"""Document shards: from sources to a published version of a folder."""

from collections.abc import Sequence
from dataclasses import dataclass

import pyarrow as pa

from bitcipher import __version__, storage
from bitcipher.errors import BitcipherError
from bitcipher.records import Record
from pipelines.ingest.content_hash import hash_sources
from pipelines.ingest.document_folder import MANIFESTS, manifest_uri, newest_manifest
from pipelines.ingest.source_changes import SourceChanges, compare_sources
from pipelines.ingest.source_groups import estimate_text_bytes
from pipelines.ingest.sources import Source, list_sources
from pipelines.runtime.grouping import GroupingRuntime
from pipelines.runtime.progress import StageProgress
from pipelines.runtime.runtime import StageSpec
from pipelines.shard.accounts import sum_accounts
from pipelines.shard.clean_stage import CLEANED_TASKS, CleanedTask, CleanStage, ShardTask, plan_tasks
from pipelines.shard.document_table import stem
from pipelines.shard.find_duplicates import DuplicateSearch
from pipelines.shard.manifest import DocumentManifest, PublishedTask, read_newest
from pipelines.shard.options import ShardOptions
from pipelines.shard.returned_documents import ReturnedDocument, find_returned
from pipelines.shard.write_stage import WriteInput, WriteStage, WrittenTask
from pipelines.store.fingerprint import Fingerprint, check_same
from pipelines.store.layout import LEASE, LEDGER, WORK
from pipelines.store.lease import Lease
from pipelines.store.ledger import EntryKind, Ledger

# Folders of the files that manifests refer to.
FILE_FOLDERS = ("documents", "keys", "dropped", "quarantine")
# Page that `pipelines.reports.shard` writes.
REPORT = "report.html"


class ShardRequest(Record):
    """Ledger entry that identifies the unfinished version."""

    options: Fingerprint


_REQUEST = EntryKind("request", ShardRequest)


@dataclass(frozen=True)
class ShardResult:
    """Result of `shard_corpus`."""

    manifest: DocumentManifest
    changes: SourceChanges
    is_new: bool
    """Whether a version was published."""
    returned: list[ReturnedDocument]
    """Documents that were dropped as copies of documents that `replace` removed, and are kept now."""


def shard_corpus(
    patterns: Sequence[str],
    out: str,
    options: ShardOptions,
    runtime: GroupingRuntime,
    progress: StageProgress,
    *,
    replace: bool = False,
) -> ShardResult:
    """Clean the documents of sources, and add them to a folder of document shards without duplicates.

    To resume an interrupted call, repeat it. Sources that the folder already contains are not read again.

    Args:
        patterns: files, folders or globs.
        out: folder of the document shards: new, or with document shards of the same options.
        options: options of the document shards.
        runtime: runtime of the stages. All runtimes give the same bytes.
        progress: progress bars.
        replace: remove the documents of sources that changed or vanished, and read changed sources again.

    Raises:
        BitcipherError: if sources or options are not valid, or the folder contains other files. In this case, no
            version is published, and finished work is kept for the next call.
    """
    out = storage.absolute(out)
    is_new_folder = _check_target(out)
    has_begun = False
    try:
        with Lease(out) as lease:
            has_begun = True
            return _add_version(patterns, out, options, runtime, progress, lease, replace)
    finally:
        # A first call that has cleaned nothing has nothing to resume.
        is_unused = newest_manifest(out) is None and not Ledger(storage.join(out, LEDGER)).keys(CLEANED_TASKS)
        if has_begun and is_new_folder and is_unused:
            storage.remove(out)


def _add_version(
    patterns: Sequence[str],
    out: str,
    options: ShardOptions,
    runtime: GroupingRuntime,
    progress: StageProgress,
    lease: Lease,
    replace: bool,
) -> ShardResult:
    """Publish a version with the new sources, if there are any."""
    base = read_newest(out)
    request = options.fingerprint()
    if base:
        check_same(base.fingerprint, request, out, "use the same options, or choose another folder")
    known = list(base.sources) if base else []
    sources = hash_sources(list_sources(patterns, options.format), known, runtime)
    changes = compare_sources(sources, known, patterns)
    kept, to_read = _plan(base, sources, changes, replace)
    if base and not to_read and len(kept) == len(base.tasks):
        return ShardResult(base, changes, False, [])
    ledger = _open_ledger(out, request)
    version = base.version + 1 if base else 1
    tasks = plan_tasks(to_read, options)
    work = storage.join(out, WORK)
    cleaned = _clean(tasks, work, ledger, options, runtime, progress)
    inputs = _find_duplicates(kept, cleaned, out, work, options, runtime, progress)
    written = _write(inputs, out, work, version, options, runtime, progress)
    manifest = _make_manifest(version, options, request, kept, tasks, written, [*known, *sources])
    lease.check()
    if not storage.create(manifest_uri(out, version), storage.to_json(manifest.to_dict())):
        raise BitcipherError(f"Another job published version {version} of {out} first. Run the same command again.")
    returned = find_returned(out, base, manifest) if base and replace else []
    _remove_work(out, manifest)
    return ShardResult(manifest, changes, True, returned)


def _check_target(out: str) -> bool:
    """Return whether the folder is new or empty.

    Raises:
        BitcipherError: if the folder has files that `bitcipher shard` does not write.
    """
    names = {name.split("/")[0] for name in storage.list_files(out)}
    if names - {*FILE_FOLDERS, MANIFESTS, LEASE, LEDGER, WORK, REPORT}:
        raise BitcipherError(f"{out} is not empty, and has other files than document shards: choose another folder.")
    return not names


def _plan(
    base: DocumentManifest | None, sources: list[Source], changes: SourceChanges, replace: bool
) -> tuple[list[PublishedTask], list[Source]]:
    """Return the published tasks that are kept, and the sources to read."""
    known = list(base.sources) if base else []
    tasks = list(base.tasks) if base else []
    removed = changes.removed_content(known) if replace else set()
    stale = {task.id for task in tasks if removed & set(task.sources)}
    # Tasks with copies of removed documents are read again, because some of these copies come back.
    while more := {task.id for task in tasks if task.id not in stale and stale & set(task.copies_of)}:
        stale |= more
    kept = [task for task in tasks if task.id not in stale]
    contained = {sha256 for task in kept for sha256 in task.sources}
    wanted = {s.sha256: s for s in (*known, *sources) if s.sha256 not in contained | removed}
    if not replace:
        for source in changes.changed:
            wanted.pop(source.sha256, None)
    return kept, sorted(wanted.values(), key=lambda source: source.uri.encode())


def _open_ledger(out: str, request: Fingerprint) -> Ledger:
    ledger = Ledger(storage.join(out, LEDGER))
    recorded = ledger.record(_REQUEST, "current", ShardRequest(options=request))
    advice = f"use the same options to resume it, or remove {ledger.uri} and {storage.join(out, WORK)}"
    check_same(recorded.options, request, f"The unfinished version in {out}", advice)
    return ledger


def _clean(
    tasks: list[ShardTask],
    work: str,
    ledger: Ledger,
    options: ShardOptions,
    runtime: GroupingRuntime,
    progress: StageProgress,
) -> list[CleanedTask]:
    """Return the cleaned tasks, sorted by id. Tasks in the ledger are not cleaned again."""
    finished = ledger.entries(CLEANED_TASKS)
    sizes = {task.id: sum(map(estimate_text_bytes, task.sources)) for task in tasks}
    cleaned = {task.id: finished[task.id] for task in tasks if task.id in finished}
    bar = progress.begin("clean", sum(sizes.values()))
    progress.advance(bar, sum(sizes[name] for name in cleaned), "")
    spec = StageSpec("clean", CleanStage, {"work": work, "ledger": ledger.uri, "options": options})
    for result in runtime.stream(spec, [task for task in tasks if task.id not in cleaned]):
        cleaned[result.value.id] = result.value
        read = sum(task.accounts.records for task in cleaned.values())
        kept = sum(task.accounts.kept for task in cleaned.values())
        progress.advance(bar, sizes[result.value.id], f"{read:,} records, {kept:,} kept")
    progress.end(bar)
    return [cleaned[name] for name in sorted(cleaned)]


def _find_duplicates(
    kept: list[PublishedTask],
    cleaned: list[CleanedTask],
    out: str,
    work: str,
    options: ShardOptions,
    runtime: GroupingRuntime,
    progress: StageProgress,
) -> list[WriteInput]:
    """Find the duplicates, and return what is removed from each task."""
    published = [
        (file.name.rpartition("/")[2].removesuffix(".parquet"), task.id) for task in kept for file in task.files
    ]
    new = [(file.name, task.id) for task in cleaned for file in task.files]
    owners = pa.array([task for _, task in (*published, *new)], pa.string())
    folders = [storage.join(out, "keys")] * len(published) + [storage.join(work, "keys")] * len(new)
    bar = progress.begin("dedup", 1)
    search = DuplicateSearch(
        folders,
        [name for name, _ in (*published, *new)],
        len(published),
        options.duplicates,
        runtime,
        options.memory_mib << 20,
    )
    search.run()
    progress.end(bar)
    number = len(published)
    inputs = []
    for task in cleaned:
        files = range(number, number + len(task.files))
        dropped = tuple(_with_owner(search.dropped_documents(file), owners) for file in files)
        inputs.append(WriteInput(task, dropped, tuple(search.removed_lines(file) for file in files)))
        number += len(task.files)
    return inputs


def _with_owner(dropped: pa.Table, owners: pa.Array) -> pa.Table:
    """Return decisions with the task of the document that is kept, instead of its id."""
    files = pa.array(dropped["kept"].to_numpy() >> 32)
    column = dropped.schema.get_field_index("kept")
    return dropped.set_column(column, "kept_task", owners.take(files))


def _write(
    inputs: list[WriteInput],
    out: str,
    work: str,
    version: int,
    options: ShardOptions,
    runtime: GroupingRuntime,
    progress: StageProgress,
) -> list[WrittenTask]:
    """Return the written tasks, sorted by id."""
    bar = progress.begin("write", len(inputs))
    written = []
    arguments = {"out": out, "work": work, "version": version, "options": options}
    for result in runtime.stream(StageSpec("write", WriteStage, arguments), inputs):
        written.append(result.value)
        documents = sum(task.accounts.kept for task in written)
        progress.advance(bar, 1, f"{documents:,} documents")
    progress.end(bar)
    return sorted(written, key=lambda task: task.id)


def _make_manifest(
    version: int,
    options: ShardOptions,
    request: Fingerprint,
    kept: list[PublishedTask],
    tasks: list[ShardTask],
    written: list[WrittenTask],
    sources: list[Source],
) -> DocumentManifest:
    hashes = {task.id: tuple(source.sha256 for source in task.sources) for task in tasks}
    new = [PublishedTask(**dict(task), sources=hashes[task.id]) for task in written]
    published = sorted((*kept, *new), key=lambda task: task.id)
    by_content = {source.sha256: source for source in reversed(sources)}
    contained = sorted((by_content[each] for task in published for each in task.sources), key=lambda s: s.uri.encode())
    return DocumentManifest(
        version=version,
        bitcipher=__version__,
        options=options,
        fingerprint=request,
        sources=tuple(contained),
        tasks=tuple(published),
        accounts=sum_accounts(task.accounts for task in published),
        files=tuple(sorted((file for task in published for file in task.files), key=lambda file: file.name)),
    )


def _remove_work(out: str, manifest: DocumentManifest) -> None:
    """Remove temporary files, and files of interrupted calls that no version refers to."""
    storage.remove(storage.join(out, WORK))
    storage.remove(storage.join(out, LEDGER))
    needed = {name for task in manifest.tasks for name in (*task.dropped_files, *task.quarantine_files)}
    needed |= {file.name for file in manifest.files}
    stems = {f"{stem(name)}.parquet" for name in needed if name.startswith("documents/")}
    for folder in FILE_FOLDERS:
        for name in storage.list_files(storage.join(out, folder), unfinished=True):
            is_needed = name.rpartition("/")[2] in stems if folder == "keys" else storage.join(folder, name) in needed
            if not is_needed:
                storage.remove(storage.join(out, folder, name))

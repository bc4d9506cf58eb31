"""Document shards: from sources to a published version of a folder."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from bitcipher import __version__
from bitcipher.files import storage
from pipelines.ingest.content_hash import add_block_hashes, hash_sources
from pipelines.ingest.document_folder import MANIFESTS, manifest_uri
from pipelines.ingest.source_changes import SourceChanges, check_given, compare_sources
from pipelines.ingest.sources import Source, check_target, list_sources
from pipelines.ingest.wrapped_lines import describe_wrapped
from pipelines.runtime.grouping import GroupingRuntime
from pipelines.runtime.progress import StageProgress
from pipelines.shard.accounts import sum_accounts
from pipelines.shard.clean_stage import ShardTask, plan_tasks
from pipelines.shard.document_table import stem
from pipelines.shard.document_version import KINDS, DocumentContents, DocumentVersion, PublishedTask, read_newest
from pipelines.shard.job import DOCUMENT_SHARDS, FILE_FOLDERS, ShardJob, clean_tasks, find_removals, write_tasks
from pipelines.shard.manifest import DocumentManifest
from pipelines.shard.options import ShardOptions
from pipelines.shard.returned_documents import ReturnedDocument, find_returned
from pipelines.shard.write_stage import WrittenTask
from pipelines.store.job_folder import publish_version
from pipelines.store.layout import LEDGER, WORK
from pipelines.store.removal import list_names, remove_below, remove_empty

# Beginning of the names of files in `FILE_FOLDERS`. Other files are left alone.
_OWN_FILE = re.compile(r"\d{6}-[0-9a-f]{20}(-\d{5})?-[0-9a-f]{8}\.parquet")
# Page that `pipelines.reports.shard` writes.
REPORT = "report.html"
# Names of the tables of versions.
_TABLE = re.compile(rf"\d{{6}}-({'|'.join(KINDS)})-[0-9a-f]{{8}}\.parquet")
# Names of reports, manifests and tables that were not written completely.
_UNFINISHED = re.compile(
    rf"({re.escape(REPORT)}|\d+\.json|{_TABLE.pattern})\.[0-9a-f]{{32}}{re.escape(storage.UNFINISHED)}"
)


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
    rehash: bool = False,
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
        rehash: read all sources to identify them, also those with the path, size and time of a known source.

    Raises:
        BitcipherError: if sources or options are not valid, or the folder contains other files. In this case, no
            version is published, and finished work is kept for the next call.
    """
    out = storage.absolute(out)
    check_target(patterns, out)
    DOCUMENT_SHARDS.check_usable(out)
    with DOCUMENT_SHARDS.leasing(out) as lease:
        job = ShardJob(out, options, read_newest(out), lease, runtime, progress)
        job.check_base()
        return _add_version(job, patterns, replace, rehash)


def _add_version(job: ShardJob, patterns: Sequence[str], replace: bool, rehash: bool) -> ShardResult:
    """Publish a version with the new sources, if there are any."""
    base = job.base
    known = list(base.sources) if base else []
    options = job.options
    listed = list_sources(patterns, options.format, job.progress.say, list_protocols=options.list_protocols)
    sources = hash_sources(listed, [] if rehash else known, job.runtime)
    changes = compare_sources(sources, known, patterns)
    kept, to_read = _plan(base, sources, changes, replace)
    check_given(to_read, sources)
    if base and not to_read and len(kept) == len(base.tasks):
        unfinished = DOCUMENT_SHARDS.find_job(job.out)
        if unfinished is None or unfinished.version < job.version:  # it was killed after it had published
            _remove_work(job.out, base)
        return ShardResult(base.manifest, changes, False, [])
    if sentence := describe_wrapped(to_read, job.options):
        job.progress.say(sentence)
    ledger = job.start()
    tasks = plan_tasks(add_block_hashes(to_read, job.runtime), job.options)
    written = write_tasks(job, find_removals(job, kept, clean_tasks(job, ledger, tasks)))
    version = _write_version(job, kept, tasks, written, [*known, *sources])
    publish_version(job.out, job.version, manifest_uri(job.out, job.version), version.manifest, job.lease)
    returned = find_returned(job.out, base, version) if base and replace else []
    # Without the lease, this job was suspended after it published, and another job uses these folders.
    if job.lease.is_held():
        _remove_work(job.out, version)
    return ShardResult(version.manifest, changes, True, returned)


def _plan(
    base: DocumentVersion | None, sources: list[Source], changes: SourceChanges, replace: bool
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
    excluded = removed.union(*(task.sources for task in kept))
    wanted = {s.sha256: s for s in (*known, *sources) if s.sha256 not in excluded}
    if not replace:
        for source in changes.changed:
            wanted.pop(source.sha256, None)
    return kept, sorted(wanted.values(), key=lambda source: source.uri.encode())


def _write_version(
    job: ShardJob, kept: list[PublishedTask], tasks: list[ShardTask], written: list[WrittenTask], sources: list[Source]
) -> DocumentVersion:
    """Write the tables of the new version, and return the version. It is not published yet."""
    hashes = {task.id: tuple(source.sha256 for source in task.sources) for task in tasks}
    new = [
        PublishedTask(**{**dict(task), "files": tuple(file.name for file in task.files)}, sources=hashes[task.id])
        for task in written
    ]
    published = sorted((*kept, *new), key=lambda task: task.id)
    by_content = {source.sha256: source for source in reversed(sources)}
    contained = sorted((by_content[each] for task in published for each in task.sources), key=lambda s: s.uri.encode())
    names = {name for task in kept for name in task.files}
    files = [file for file in job.base.files if file.name in names] if job.base else []
    files += [file for task in written for file in task.files]
    contents = DocumentContents(
        files=tuple(sorted(files, key=lambda file: file.name)), sources=tuple(contained), tasks=tuple(published)
    )
    manifest = DocumentManifest(
        version=job.version,
        bitcipher=__version__,
        options=job.options.redacted(),
        fingerprint=job.options.fingerprint(),
        tables=contents.write(job.out, job.version),
        accounts=sum_accounts(task.accounts for task in published),
    )
    return DocumentVersion(job.out, manifest, contents)


def _remove_work(out: str, version: DocumentVersion) -> None:
    """Remove temporary files, and files of interrupted calls that no version refers to."""
    for folder in FILE_FOLDERS:
        remove_below(out, storage.join(WORK, folder))
    remove_empty(storage.join(out, WORK))
    remove_below(out, LEDGER)
    for name in filter(_UNFINISHED.fullmatch, list_names(out)):
        remove_below(out, name)
    tables = {version.table_uri(name).rpartition("/")[2] for name in KINDS}
    for name in list_names(storage.join(out, MANIFESTS)) - tables:
        # Tables of earlier versions stay, as their manifests do.
        is_unused = _TABLE.fullmatch(name) and name.startswith(f"{version.manifest.version:06d}-")
        if is_unused or _UNFINISHED.fullmatch(name):
            remove_below(out, storage.join(MANIFESTS, name))
    needed = {name for task in version.tasks for name in (*task.dropped_files, *task.quarantine_files)}
    needed |= {file.name for file in version.files}
    stems = {f"{stem(name)}.parquet" for name in needed if name.startswith("documents/")}
    for folder in FILE_FOLDERS:
        for name in storage.list_files(storage.join(out, folder), unfinished=True):
            file = name.rpartition("/")[2]
            is_needed = file in stems if folder == "keys" else storage.join(folder, name) in needed
            if not is_needed and _OWN_FILE.match(file):
                remove_below(out, storage.join(folder, name))

"""Building, and updating what was built: both make a version of a build, by the same job."""

from collections.abc import Sequence

import pyarrow as pa

from bitcipher import storage
from bitcipher.errors import BitcipherError
from bitcipher.versions import versions
from pipelines.store import layout
from pipelines.store import lease
from pipelines.ingest.source_changes import SourceChanges, compare
from pipelines.ingest.content_hash import hash_sources
from pipelines.build.job import BuildJob
from pipelines.store.lease import Lease
from pipelines.store.ledger import Ledger
from pipelines.options import BuildOptions, UpdateOptions
from pipelines.runtime.progress import StageProgress
from pipelines.runtime.runtime import Row, Runtime
from pipelines.store.segments import Segment
from pipelines.ingest.sources import Source, list_sources


def build(
    patterns: Sequence[str], target: str, options: BuildOptions, runtime: Runtime, progress: StageProgress
) -> None:
    """Build counts and vectors, as version 1 of a new folder (see `pipelines.store.layout`), or finish what was begun there.

    Args:
        patterns: files, folders or globs.
        target: the folder, by path or URI.
        options: how.
        runtime: where the stages run; the same bytes come out of each.
        progress: where to show how far it is.

    Raises:
        BitcipherError: if sources, options or target do not allow it; no version is then published.
    """
    target = storage.absolute(target)
    _check_free(target)
    sources = list_sources(patterns, options.format)
    is_begun = False
    try:
        with Lease(target) as lease:
            is_begun = True
            job = BuildJob(target, options, None, lease, runtime, progress)
            job.begin()
            sources = hash_sources(sources, [], runtime)
            _make_version(job, sources, compare(sources, [], patterns), UpdateOptions())
    finally:
        # Where not one shard was counted, there is nothing to go on with.
        if is_begun and not versions(target) and not _has_shards(target):
            storage.remove(target)


def update(
    target: str,
    patterns: Sequence[str],
    chosen: UpdateOptions,
    memory_mib: int,
    runtime: Runtime,
    progress: StageProgress,
) -> tuple[Row, SourceChanges]:
    """Count what is new and publish a new version; if nothing is new, the newest version stays.

    Args:
        target: the folder of the build.
        patterns: files, folders or globs: all of the corpus, or what came to it.
        chosen: how.
        memory_mib: of each worker.
        runtime: where the stages run.
        progress: where to show how far it is.

    Returns:
        The manifest of the newest version, and what became of the sources.

    Raises:
        BitcipherError: if anything does not allow it; no version is then published, and what was counted is kept for
            the next try.
    """
    target = storage.absolute(target)
    layout.read_manifest(target)
    with Lease(target) as lease:
        base = layout.read_manifest(target)
        options = BuildOptions.parse({**base["options"], "memory_mib": memory_mib}, target)
        job = BuildJob(target, options, base, lease, runtime, progress)
        known_words = job.known_words(chosen.align)  # a false name shows before anything is counted
        job.begin()
        known = [Source(**source) for source in base["sources"]]
        sources = hash_sources(list_sources(patterns, options.format), known, runtime)
        changes = compare(sources, known, patterns)
        return _make_version(job, sources, changes, chosen, known_words) or base, changes


def _make_version(
    job: BuildJob,
    sources: list[Source],
    changes: SourceChanges,
    chosen: UpdateOptions,
    known_words: pa.LargeStringArray | None = None,
) -> Row | None:
    """The manifest of the new version, or None if there is nothing to make one of."""
    tasks = job.plan(sources, changes, chosen.replace)
    if job.base and not tasks.to_count and len(tasks.kept) == len(job.base["tasks"]) and not chosen.align:
        job.finish()
        return None
    new = job.count(tasks.to_count)
    kept = {name for task in tasks.kept for name in task["shards"]}
    segments = job.merge(kept, new)
    shards = [Segment.from_dict(shard) for shard in job.base["shards"] if shard["name"] in kept] if job.base else []
    vocabulary = job.choose_vocabulary(segments, known_words)
    manifest = job.describe(tasks, [*shards, *new], segments, vocabulary, chosen.align)
    job.embed(manifest)
    job.measure_drift(manifest, chosen.max_drift)
    job.publish(manifest)
    return manifest


def _check_free(target: str) -> None:
    if versions(target):
        raise BitcipherError(f"{target} is already there: add to it with `bitcipher update`, or choose another name.")
    # A job leaves its lease wherever it was stopped.
    places = {name.split("/")[0] for name in storage.list_files(target)}
    if places and lease.FOLDER not in places:
        raise BitcipherError(f"{target} is already there and is no build: choose another name, or remove it first.")


def _has_shards(target: str) -> bool:
    entries = Ledger(storage.join(target, layout.LEDGER)).entries()
    return any("parts" in entry for entry in entries.values())

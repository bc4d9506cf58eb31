"""Functions that make and update builds. Both publish a version."""

from collections.abc import Sequence
from typing import Literal

import pyarrow as pa

from bitcipher.errors import BitcipherError
from bitcipher.files import storage
from bitcipher.table.vector_folder import read_folder
from bitcipher.versions import versions
from pipelines.builds.job import Job, clean_up, finish_job, start_job, vocabulary_inputs
from pipelines.builds.make_version import make_version
from pipelines.builds.version_plan import plan_version
from pipelines.embed.spectral_vectors import earlier_vectors
from pipelines.ingest.content_hash import hash_sources
from pipelines.ingest.held_out import HeldOut
from pipelines.ingest.source_changes import SourceChanges, check_given, compare_sources
from pipelines.ingest.sources import Source, check_target, list_sources
from pipelines.ingest.wrapped_lines import describe_wrapped
from pipelines.merge.vocabulary import read_word_list
from pipelines.options import SPECTRAL, BuildOptions, UpdateOptions
from pipelines.runtime.progress import StageProgress
from pipelines.runtime.runtime import Runtime
from pipelines.store.build_folder import BUILD, count_recorded_shards
from pipelines.store.hashed_sources import hash_for_job
from pipelines.store.lease import Lease
from pipelines.store.manifest import BuildManifest
from pipelines.store.stored_files import use_given_files
from pipelines.store.stored_versions import StoredVersions


def build(
    patterns: Sequence[str],
    target: str,
    options: BuildOptions,
    runtime: Runtime,
    progress: StageProgress,
    vectors: Literal["now", "later"] = "now",
    held_out: HeldOut | None = None,
    *,
    rehash: bool = False,
) -> None:
    """Make a build, or resume the unfinished one in the same folder.

    If the same call was killed after it published the version, only its temporary files are removed.

    Args:
        patterns: files, folders or globs.
        target: folder of the build, a path or URI (see `pipelines.store.layout`).
        options: options of the build.
        runtime: runtime of the stages. All runtimes give the same bytes.
        progress: progress bars.
        vectors: whether the version gets vectors now, or a later update makes them.
        held_out: documents that are not counted. Such a build cannot be updated, because an update would count them.
        rehash: read all sources to identify them, also those that an interrupted attempt has read.

    Raises:
        BitcipherError: if sources, options or target are not valid. In this case, no version is published.
    """
    target = storage.absolute(target)
    check_target(patterns, target)
    listed = list_sources(patterns, options.format, progress.say, list_protocols=options.list_protocols)
    stored = StoredVersions(target)
    if _is_published(stored, listed, options, runtime, vectors == "now"):
        with Lease(target):
            clean_up(stored)
        return
    if versions(target):
        raise BitcipherError(f"{target} already exists: add to it with `bitcipher update`, or choose another path.")
    BUILD.check_usable(target)
    if options.word_list is not None:
        read_word_list(options.word_list)  # raise before counting, if it is missing
    with BUILD.leasing(target) as lease:
        job = start_job(stored, options, None, lease, runtime, progress, held_out)
        sources = hash_for_job(listed, [], job.ledger, runtime, rehash)
        del listed  # the hashed sources are copies
        changes = compare_sources(sources, [], patterns)
        if copies := changes.copies:
            noun = "source has" if len(copies) == 1 else "sources have"
            progress.say(f"{len(copies):,} {noun} the content of another one, which is counted once: {copies[0].uri}.")
        if sentence := describe_wrapped(changes.new, options):
            progress.say(sentence)
        plan = plan_version(sources, changes, False, None, options.shard_mib << 20)
        make_version(job, plan, UpdateOptions(vectors=vectors), None)


def update(
    target: str,
    patterns: Sequence[str],
    options: UpdateOptions,
    memory_mib: int,
    runtime: Runtime,
    progress: StageProgress,
    *,
    rehash: bool = False,
) -> tuple[BuildManifest, SourceChanges]:
    """Count new sources and publish a new version.

    Without new sources, a version is published only if it has other words, because the word list has changed, or other
    vectors: those of counts that were published without vectors, or with other axes or ranks.

    Args:
        target: folder of the build.
        patterns: files, folders or globs of the whole corpus, or of the new files only. Without any, the counts of the
            newest version are used as they are.
        options: options of the update.
        memory_mib: memory of each worker in MiB.
        runtime: runtime of the stages.
        progress: progress bars.
        rehash: read all sources to identify them, also those with the path, size and time of a known source.

    Returns:
        The manifest of the newest version, and the difference between the sources and those already counted.

    Raises:
        BitcipherError: if the update is not possible. In this case, no version is published, and finished work is kept
            for the next attempt.
    """
    target = storage.absolute(target)
    check_target(patterns, target)
    stored = StoredVersions(target)
    stored.find()  # raise before the lease is written, if there is no build
    with Lease(target) as lease:
        previous = stored.find()
        base = previous.manifest
        _check_options(target, base, patterns, options)
        known_words = _read_known_words(target, options.align)  # raise before counting, if there are none
        base_options = base.options.derive({"memory_mib": memory_mib})
        build_options = use_given_files(base_options, target, tokenizer=options.tokenizer, word_list=options.word_list)
        job = start_job(stored, build_options, previous, lease, runtime, progress)
        if not patterns:
            _check_no_counted_shards(target)
        known = previous.sources
        listed: list[Source] = []
        if patterns:
            listed = list_sources(patterns, build_options.format, progress.say, list_protocols=options.list_protocols)
        sources = hash_for_job(listed, known, job.ledger, runtime, rehash)
        del listed  # the hashed sources are copies
        changes = compare_sources(sources, known, patterns)
        if sentence := describe_wrapped(changes.new, build_options):
            progress.say(sentence)
        plan = plan_version(sources, changes, options.replace, previous, build_options.shard_mib << 20)
        check_given([source for task in plan.to_count for source in task.sources], sources)
        is_counted = not plan.to_count and len(plan.kept_tasks) == len(previous.tasks)
        has_same_words = _has_same_word_list(job, base)
        if is_counted and has_same_words and not _makes_other_vectors(base, options):
            finish_job(job)
            return base, changes
        return make_version(job, plan, options, known_words), changes


def _is_published(
    stored: StoredVersions, listed: Sequence[Source], options: BuildOptions, runtime: Runtime, has_vectors: bool
) -> bool:
    """Return whether a call with the same arguments published the only version, and stopped before it cleaned up."""
    job = BUILD.find_job(stored.build) if versions(stored.build) == [1] else None
    if job is None or job.version != 1:
        return False
    version = stored.find()
    manifest = version.manifest
    if manifest.has_own_vectors != has_vectors:
        return False
    hashes = {source.sha256 for source in hash_sources(listed, version.sources, runtime)}
    return (
        manifest.options == options.redacted()
        and manifest.inputs in (None, vocabulary_inputs(options).record())
        and hashes == {source.sha256 for source in version.sources}
    )


def _check_options(build: str, base: BuildManifest, patterns: Sequence[str], options: UpdateOptions) -> None:
    """Check the options of an update against its sources and the version that is updated.

    Raises:
        BitcipherError: if an option cannot be used.
    """
    if not patterns and (options.replace or options.vectors == "later"):
        name = "`replace`" if options.replace else "`vectors` later"
        raise BitcipherError(f"{name} needs sources: without sources, an update only makes vectors.")
    if options.basis == "keep" and base.options.mode != SPECTRAL:
        raise BitcipherError(f"`basis` keep is an option of mode spectral, and {build} has mode {base.options.mode}.")
    if options.basis == "keep" and base.vectors_from is None:
        raise BitcipherError(f"{build} has no vectors whose basis can be kept: leave out `basis` keep.")


def _check_no_counted_shards(build: str) -> None:
    """Check that an unfinished job has counted nothing, because an update without sources would drop its shards.

    Raises:
        BitcipherError: if it has counted shards.
    """
    if shards := count_recorded_shards(build):
        raise BitcipherError(
            f"An interrupted job has counted {shards:,} shards that {build} does not have yet: give its sources to "
            "resume it, or drop it with `bitcipher prune --unfinished`."
        )


def _makes_other_vectors(base: BuildManifest, options: UpdateOptions) -> bool:
    """Return whether an update without new sources makes other vectors than those of the previous version."""
    if options.vectors == "later":
        return False
    if not base.has_own_vectors:
        return True
    has_kept_axes = base.basis is not None and base.basis.version != base.version
    return options.align is not None or (options.basis == "refresh" and has_kept_axes)


def _has_same_word_list(job: Job, base: BuildManifest) -> bool:
    """Return whether the word list is that of the previous version. Without a record, it counts as the same."""
    if job.options.word_list is None:
        return True
    if base.inputs is None:
        job.progress.say(
            f"{job.build} was made by a version of bitcipher that did not record the content of the word list, so "
            "changes of it cannot be noticed."
        )
        return True
    contents = [[file.sha256 for file in inputs.files["word_list"]] for inputs in (job.inputs, base.inputs)]
    return contents[0] == contents[1]


def _read_known_words(build: str, align: str | None) -> pa.LargeStringArray | None:
    """Return the words that keep their ranks: those of a version, another build, or a folder of vectors."""
    if align is None:
        return None
    return read_folder(earlier_vectors(build, align)).words

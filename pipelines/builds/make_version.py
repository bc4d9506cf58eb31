"""Steps from a plan to a published version.

Each step records finished work in the ledger of the job, from which a later attempt resumes. Shards are identified by
the content of their sources, and merged ranges by the names of the merged segments.
"""

import time
from dataclasses import dataclass, replace
from itertools import islice

import pyarrow as pa

from bitcipher import __version__
from bitcipher.cipher import BitCipher
from bitcipher.errors import BitcipherError
from bitcipher.files import json_files, parquet_files, storage
from bitcipher.redaction import redact
from bitcipher.versions import WORDS, manifest_uri
from pipelines.builds.job import Job, finish_job
from pipelines.builds.make_vectors import make_vectors, reuse_vectors
from pipelines.builds.merge_bars import MergeBars
from pipelines.builds.report import BuildReport
from pipelines.builds.version_plan import VersionPlan
from pipelines.count.count_stage import CountStage, CountTask
from pipelines.embed.stored_counts import StoredCounts
from pipelines.ingest.content_hash import add_block_hashes, sha256
from pipelines.ingest.record_counts import RecordCounts, sum_record_counts
from pipelines.ingest.source_groups import estimate_text_bytes
from pipelines.merge.merge_segments import merge_segments
from pipelines.merge.vocabulary import choose_vocabulary, find_candidates
from pipelines.options import SPECTRAL, UpdateOptions
from pipelines.runtime.events import log_event
from pipelines.runtime.free_memory import release_memory
from pipelines.runtime.runtime import StageSpec
from pipelines.store import layout
from pipelines.store.build_folder import COUNTED_SHARDS, COUNTED_TASKS, PLANS, CountPlan
from pipelines.store.job_folder import publish_version
from pipelines.store.manifest import BuildManifest, CountDigests, CountedTask, VersionDigests
from pipelines.store.segments import Merge, Segment, next_merges, subtract_shards, total_digest
from pipelines.store.stored_versions import StoredVersion
from pipelines.store.version_tables import VersionContents
from pipelines.tokenizers.registry import tokenizer_path

# Maximum number of merges that run at the same time. The driver holds the ranges of each, up to a megabyte.
MAX_MERGES = 256


@dataclass(frozen=True)
class CountResult:
    """Result of the count tasks of a job."""

    tasks: list[CountedTask]
    """Count tasks, including those that earlier attempts finished."""
    shards: list[Segment]
    """Shards of all tasks, sorted by name."""
    tokens: int
    """Number of tokens that this attempt counted."""


def make_version(
    job: Job, plan: VersionPlan, options: UpdateOptions, known_words: pa.LargeStringArray | None
) -> BuildManifest:
    """Make a version, and publish it.

    Args:
        job: the job that makes the version.
        plan: tasks to count, and tasks of the previous version to keep.
        options: options of the update.
        known_words: words that keep their ranks, or None.

    Raises:
        BitcipherError: if a step fails; finished work stays in the ledger.
    """
    counted = run_count_tasks(job, plan.to_count)
    before = job.previous.shards if job.previous else ()
    kept_names = plan.kept_shards
    kept_shards = [shard for shard in before if shard.name in kept_names]
    segments = merge_shards(job, kept_shards, counted.shards)
    vocabulary_size, oov_tokens = write_vocabulary(job, segments, known_words)
    release_memory()
    words = job.file(WORDS)
    digests = CountDigests(words=sha256(words), counts=total_digest(segments))
    if options.vectors == "later":
        vectors = reuse_vectors(job)
    else:
        counts = StoredCounts.of_segments(job.build, words, segments, job.options, digests)
        vectors = make_vectors(job, counts, options)
    contents = VersionContents(
        sources=tuple(plan.sources),
        tasks=(*plan.kept_tasks, *counted.tasks),
        shards=(*kept_shards, *counted.shards),
        segments=tuple(segments),
    )
    manifest = BuildManifest(
        version=job.version,
        folder=job.folder,
        vectors_from=vectors.reference,
        bitcipher=__version__,
        options=job.options.redacted(),
        fingerprint=job.entry.fingerprint,
        inputs=job.inputs,
        aligned=options.align and redact(options.align),
        documents=sum(segment.documents for segment in segments),
        text_bytes=sum(segment.text_bytes for segment in segments),
        tokens=sum(segment.tokens for segment in segments),
        vocabulary=vocabulary_size,
        oov_tokens=oov_tokens,
        records=_sum_records(contents),
        tables=contents.write(storage.join(job.build, job.folder)),
        digests=VersionDigests(words=digests.words, counts=digests.counts, vectors=vectors.sha256),
        vectors=vectors.sizes,
        basis=vectors.basis,
        drift=vectors.drift,
        drift_from=vectors.drift_from,
    )
    _publish(job, StoredVersion(job.build, manifest, contents), counted.tokens)
    return manifest


def run_count_tasks(job: Job, tasks: list[CountTask]) -> CountResult:
    """Count the tasks that are not yet in the ledger, and return the shards of all tasks.

    Raises:
        BitcipherError: if another job removed the ledger.
    """
    finished = _read_finished(job)
    open_tasks = _add_block_hashes([task for task in tasks if task.id not in finished], job)
    total = sum(map(_text_bytes, tasks))
    job.ledger.record(
        PLANS, job.folder.rpartition("/")[2], CountPlan(tasks=tuple(task.id for task in tasks), text_bytes=total)
    )
    bar = job.progress.begin("count", total, done=total - sum(map(_text_bytes, open_tasks)))
    # The path must be absolute, because workers have other working directories.
    options = job.options.derive({"tokenizer": tokenizer_path(job.options.tokenizer)})
    arguments = {"build": job.build, "ledger": job.ledger.uri, "options": options, "held_out": job.held_out}
    start, tokens, documents = time.perf_counter(), 0, 0
    shards: dict[str, list[Segment]] = {task.id: [] for task in open_tasks}
    for result in job.runtime.stream(StageSpec("count", CountStage, arguments, in_parallel=True), open_tasks):
        job.costs.add(result)
        shard = result.value.shard
        shards[result.value.task].append(shard)
        tokens, documents = tokens + shard.tokens, documents + shard.documents
        rate = tokens / (time.perf_counter() - start)
        noun = "document" if documents == 1 else "documents"
        note = f"{documents:,} {noun}, {tokens / 1e6:,.1f} M tokens, {rate / 1e6:.2f} M/s"
        job.progress.advance(bar, shard.text_bytes, note)
        log_event("counted", shard=shard.name, tokens=shard.tokens, cost=result.cost.to_dict())
    job.progress.end(bar)
    shards |= finished
    entries = job.ledger.entries(COUNTED_TASKS)
    if not {task.id for task in tasks} <= set(entries):
        raise BitcipherError(
            f"Another job removed the shards that this one had counted in {job.build}. Run the same command again."
        )
    return CountResult(
        tasks=[entries[task.id] for task in tasks],
        shards=sorted((shard for task in tasks for shard in shards[task.id]), key=lambda shard: shard.name),
        tokens=tokens,
    )


def _add_block_hashes(tasks: list[CountTask], job: Job) -> list[CountTask]:
    """Return the tasks with sources that can be verified while they are read. Sources of earlier versions cannot."""
    sources = iter(add_block_hashes([source for task in tasks for source in task.sources], job.runtime))
    return [replace(task, sources=tuple(islice(sources, len(task.sources)))) for task in tasks]


def merge_shards(job: Job, kept_shards: list[Segment], new_shards: list[Segment]) -> list[Segment]:
    """Merge segments, and return the segments of the new version.

    The new version contains the segments of the previous version without the removed shards, and the new shards.

    Args:
        job: the job that makes the version.
        kept_shards: shards of the previous version that the new version contains. The others are removed.
        new_shards: shards that were counted for the new version.
    """
    segments, merges = [], []
    if job.previous:
        names = {shard.name for shard in kept_shards}
        removed = {shard.name: shard for shard in job.previous.shards if shard.name not in names}
        segments, merges = subtract_shards(job.previous.segments, removed)
    segments += new_shards
    while merges := merges or next_merges(segments):
        members = {member.name for merge in merges for member in merge.members}
        segments = [segment for segment in segments if segment.name not in members]
        for start in range(0, len(merges), MAX_MERGES):
            segments += _run_merges(job, merges[start : start + MAX_MERGES])
        merges = []
    return sorted(segments, key=lambda segment: segment.name)


def write_vocabulary(job: Job, segments: list[Segment], known_words: pa.LargeStringArray | None) -> tuple[int, int]:
    """Choose the vocabulary of the new version, and write it to a file.

    Returns:
        The number of words, and the number of tokens outside the vocabulary.

    Raises:
        BitcipherError: if the code has too few bits for the vocabulary.
    """
    bar = job.progress.begin("words", 1)
    limit = job.budget.range_limits.words
    candidates = find_candidates(segments, job.build, job.options, known_words, limit, job.runtime, job.costs.add)
    with job.costs.measure("words"):
        passages = sum(segment.total_passages for segment in segments)
        vocabulary = choose_vocabulary(candidates, passages, job.options, known_words)
        if job.options.mode != SPECTRAL:
            BitCipher(job.options.bits).active_bits(len(vocabulary))  # raise before the long steps
        parquet_files.write_table(job.file(WORDS), vocabulary.to_table())
    job.progress.advance(bar, 1, f"{len(vocabulary):,} words")
    return len(vocabulary), int(vocabulary.counts[vocabulary.oov_rank])


def _publish(job: Job, version: StoredVersion, counted_tokens: int) -> None:
    report = BuildReport(**dict(job.costs.report(job.runtime.workers)), tokens=counted_tokens)
    json_files.write(job.file(layout.REPORT), report.to_dict())
    uri = manifest_uri(job.build, job.version)
    publish_version(job.build, job.version, uri, version.manifest, job.lease)
    job.versions.add(version)
    log_event("published", build=job.build, version=job.version, tokens=version.manifest.tokens)
    finish_job(job)


def _run_merges(job: Job, merges: list[Merge]) -> list[Segment]:
    return merge_segments(
        {merge.name: merge for merge in merges},
        job.build,
        layout.SEGMENTS,
        job.work_folder(),
        job.budget.range_limits,
        job.runtime,
        job.ledger.uri,
        job.costs.add,
        MergeBars(job.progress),
    )


def _read_finished(job: Job) -> dict[str, list[Segment]]:
    """Return the shards of each task that earlier attempts finished, by the id of the task.

    A task of which a shard is not recorded is not finished.
    """
    shards = {shard.name: shard for shard in job.ledger.entries(COUNTED_SHARDS).values()}
    tasks = job.ledger.entries(COUNTED_TASKS)
    return {
        name: [shards[shard] for shard in task.shards]
        for name, task in tasks.items()
        if shards.keys() >= set(task.shards)
    }


def _sum_records(contents: VersionContents) -> RecordCounts:
    """Return the sums over all sources. The example is from the first source with a bad record."""
    by_content = {sha256: counts for task in contents.tasks for sha256, counts in task.records.items()}
    return sum_record_counts(by_content[source.sha256] for source in contents.sources if source.sha256 in by_content)


def _text_bytes(task: CountTask) -> int:
    return sum(map(estimate_text_bytes, task.sources))

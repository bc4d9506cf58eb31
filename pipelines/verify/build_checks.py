"""Checks of a build: manifests, vocabularies, vectors, counts, and the work of an unfinished job."""

from collections.abc import Iterable, Iterator

from bitcipher.counts.segment import part_files
from bitcipher.errors import BitcipherError
from bitcipher.files import storage
from bitcipher.versions import WORDS, manifest_uri, versions
from pipelines.builds.report import read_report
from pipelines.store import layout
from pipelines.store.build_folder import BUILD, COUNTED_SHARDS, MERGED_PARTS
from pipelines.store.job_folder import folder_ledger, list_job_ledgers
from pipelines.store.lease import GENERATION, LeaseHolder
from pipelines.store.manifest import BuildManifest
from pipelines.store.segments import Segment, total_digest
from pipelines.store.stored_versions import StoredVersion, StoredVersions
from pipelines.store.version_tables import KINDS, table_uri
from pipelines.verify.checks import PartCheck, SegmentCheck, VectorsCheck, VocabularyCheck
from pipelines.verify.damage import Check, KnownDamage, error_of

# Maximum number of sources to name in an advice.
EXAMPLES = 3

UNFINISHED = "It holds counts of an unfinished job: drop them with `bitcipher prune --unfinished`."
_RESTORE = "Restore the file from a copy"


def build_checks(build: str, sizes: dict[str, int]) -> list[Check]:
    """Return the checks of all files of a build.

    Args:
        build: folder of the build.
        sizes: bytes of each file, by its path relative to the build.
    """
    stored = StoredVersions(build)
    published: list[StoredVersion] = []
    checks: list[Check] = []
    for version in versions(build):
        try:
            published.append(stored.find(version))
        except BitcipherError as error:
            advice = f"{_RESTORE}, or remove it: version {version} is lost, and other versions are not affected."
            checks.append(KnownDamage(str(error), advice, sizes.get(f"versions/{version:06d}.json", 0)))
    intact: list[StoredVersion] = []
    for version in published:
        damaged_tables = list(_table_checks(version, sizes))
        intact += [] if damaged_tables else [version]
        checks += [*damaged_tables, *_version_checks(build, version.manifest, sizes)]
    checks += _vectors_checks(build, [version.manifest for version in published], sizes)
    checks += _ledger_checks(build)
    checks += _count_checks(build, intact, sizes)
    return checks


def _table_checks(version: StoredVersion, sizes: dict[str, int]) -> Iterator[Check]:
    """Yield the damaged tables of a version. The others are read."""
    number, folder = version.manifest.version, version.manifest.folder
    damaged = False
    for name in KINDS:
        if sentence := error_of(version.table, name):
            damaged = True
            advice = (
                f"It is the table of {name} of version {number}, whose counts are therefore not checked. {_RESTORE}."
            )
            yield KnownDamage(sentence, advice, sizes.get(table_uri(folder, name), 0))
    if not damaged and version.manifest.digests.counts != total_digest(version.segments):
        uri = manifest_uri(version.build, number)
        sentence = f"{uri} is damaged: the segments of the version have another digest than its counts."
        yield KnownDamage(sentence, f"{_RESTORE}, or build again.")


def _version_checks(build: str, manifest: BuildManifest, sizes: dict[str, int]) -> Iterator[Check]:
    """Yield the checks of the vocabulary and the report of a version."""
    folder, version = manifest.folder, f"version {manifest.version}"
    advice = f"It is the vocabulary of {version}. {_RESTORE}, or build again."
    yield VocabularyCheck(manifest.vocabulary_file(build), advice, sizes.get(f"{folder}/{WORDS}", 0))
    if sentence := error_of(read_report, build, manifest):
        yield KnownDamage(sentence, f"It holds the costs of {version}, which only `inspect` shows.")


def _vectors_checks(build: str, manifests: list[BuildManifest], sizes: dict[str, int]) -> Iterator[Check]:
    """Yield the checks of the vectors that versions refer to, each once."""
    published = {manifest.version for manifest in manifests}
    found: set[tuple[str, str | None]] = set()
    for manifest in manifests:
        reference, digest = manifest.vectors_from, manifest.digests.vectors
        if reference is None or (reference.folder, digest) in found:
            continue
        found.add((reference.folder, digest))
        # If the version of the vectors was pruned, only counts of a later version are left.
        counted = reference.version if reference.version in published else manifest.version
        advice = (
            f"It belongs to the vectors of version {reference.version}. {_RESTORE}, or make vectors again: "
            f"bitcipher embed {build} --version {counted} --out NEW"
        )
        size = sum(size for name, size in sizes.items() if name.startswith(f"{reference.folder}/"))
        yield VectorsCheck(manifest.vectors_folder(build), advice, size, digest)


def _ledger_checks(build: str) -> Iterator[Check]:
    """Yield the damaged entries of the ledgers and leases of a build."""
    ledgers = [(folder_ledger(build), (BUILD.job,)), *((ledger, BUILD.entries) for ledger in list_job_ledgers(build))]
    for ledger, kinds in ledgers:
        for kind in kinds:
            for key in ledger.keys(kind):
                if error_of(ledger.check, kind, key):
                    sentence = f"{ledger.entry_uri(kind, key)} is damaged, incomplete, or of another version."
                    yield KnownDamage(sentence, "It is part of an unfinished job, whose next run does this work again.")
    folder = storage.join(build, layout.LEASE)
    for name in filter(GENERATION.fullmatch, storage.list_files(folder)):
        if sentence := error_of(LeaseHolder.read, storage.join(folder, name)):
            yield KnownDamage(sentence, "It is a lease. The next job waits until it expires, and then replaces it.")


def _count_checks(build: str, published: list[StoredVersion], sizes: dict[str, int]) -> Iterator[Check]:
    """Yield the checks of all segments that versions or the unfinished job refer to, each once."""
    found: dict[tuple[str, ...], tuple[Segment, str]] = {}
    for ledger in list_job_ledgers(build):
        for shard in ledger.entries(COUNTED_SHARDS).values():
            found[shard.parts] = (shard, UNFINISHED)
        for entry in ledger.entries(MERGED_PARTS).values():
            yield _part_check(build, entry.part, entry.sha256, UNFINISHED, sizes)
    for version in published:
        sources = _sources_of_shards(version)
        for segment in (*version.shards, *version.segments):
            found[segment.parts] = (segment, _segment_advice(segment, sources))
    for segment, advice in found.values():
        parts = tuple(
            _part_check(build, *part, advice, sizes) for part in zip(segment.parts, segment.part_hashes, strict=True)
        )
        size = sum(part.size for part in parts)
        yield SegmentCheck(parts, segment.total_passages, segment.digest, advice, size)


def _part_check(build: str, part: str, sha256: str, advice: str, sizes: dict[str, int]) -> PartCheck:
    return PartCheck(storage.join(build, part), sha256, advice, sum(sizes.get(file, 0) for file in part_files(part)))


def _sources_of_shards(version: StoredVersion) -> dict[str, tuple[str, ...]]:
    """Return the URIs of the sources of each shard of a version."""
    uris = {source.sha256: source.uri for source in version.sources}
    by_task = [(task, tuple(uris[sha256] for sha256 in task.sources if sha256 in uris)) for task in version.tasks]
    return {shard: sources for task, sources in by_task for shard in task.shards}


def _segment_advice(segment: Segment, sources: dict[str, tuple[str, ...]]) -> str:
    # The shards of a task share one tuple, so each is added once.
    groups = {id(uris): uris for shard in segment.shards for uris in [sources.get(shard, ())]}
    uris = {uri for group in groups.values() for uri in group}
    return f"It holds counts of {_list_sources(uris)}. {_RESTORE}, or build again in a new folder."


def _list_sources(uris: Iterable[str]) -> str:
    uris = sorted(uris)
    more = f" and {len(uris) - EXAMPLES:,} more sources" if len(uris) > EXAMPLES else ""
    return ", ".join(uris[:EXAMPLES]) + more

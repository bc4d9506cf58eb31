"""Jobs: each makes a version of a build, and resumes the work of interrupted attempts."""

import uuid
from dataclasses import dataclass, field

from bitcipher.files import storage
from bitcipher.versions import VERSIONS
from pipelines.builds.prune import collect_garbage
from pipelines.embed.embed_counts import EMBEDDING_VERSION
from pipelines.ingest.held_out import HeldOut
from pipelines.options import BuildOptions
from pipelines.runtime.costs import Costs
from pipelines.runtime.memory_budget import MemoryBudget
from pipelines.runtime.progress import StageProgress
from pipelines.runtime.runtime import Runtime
from pipelines.store import layout
from pipelines.store.build_folder import BUILD
from pipelines.store.fingerprint import READERS, check_same, fingerprint, keep_readers
from pipelines.store.job_folder import JobEntry, folder_ledger, job_ledger
from pipelines.store.lease import Lease
from pipelines.store.ledger import Ledger
from pipelines.store.manifest import BuildManifest
from pipelines.store.recorded_inputs import GivenInputs, ListFiles, RecordedInputs, digest_files
from pipelines.store.stored_versions import StoredVersion, StoredVersions


@dataclass(frozen=True)
class Job:
    """A running job: the state that its steps share. The job holds `lease` while it runs."""

    build: str
    """Folder of the build."""
    options: BuildOptions
    versions: StoredVersions
    """Published versions of the build."""
    previous: StoredVersion | None
    """The version that is updated; None for a new build."""
    entry: JobEntry
    """The job as recorded in the ledger of the build."""
    lease: Lease
    runtime: Runtime
    progress: StageProgress
    costs: Costs
    inputs: RecordedInputs
    """Files that determine the vocabulary; see `vocabulary_inputs`."""
    held_out: HeldOut | None = None
    """Documents that are not counted."""
    folder: str = field(init=False)
    """Folder of the new version, relative to the build; unique to this attempt."""

    def __post_init__(self) -> None:
        folder = storage.join(VERSIONS, f"{self.version:06d}-{uuid.uuid4().hex[:8]}")
        object.__setattr__(self, "folder", folder)

    @property
    def base(self) -> BuildManifest | None:
        """Manifest of the version that is updated; None for a new build."""
        return self.previous and self.previous.manifest

    @property
    def version(self) -> int:
        """Number of the new version."""
        return _next_version(self.previous)

    @property
    def ledger(self) -> Ledger:
        """Ledger of finished work."""
        return job_ledger(self.build, self.entry)

    @property
    def budget(self) -> MemoryBudget:
        """Memory of each worker, or of this process and its threads."""
        return MemoryBudget(self.options.memory_mib, self.runtime.threads)

    def file(self, name: str) -> str:
        """Return the URI of a file or folder of the new version."""
        return storage.join(self.build, self.folder, name)

    def work_folder(self) -> str:
        """Return the URI of a new folder for temporary files."""
        return storage.join(self.build, layout.WORK, uuid.uuid4().hex)


def start_job(
    versions: StoredVersions,
    options: BuildOptions,
    previous: StoredVersion | None,
    lease: Lease,
    runtime: Runtime,
    progress: StageProgress,
    held_out: HeldOut | None = None,
) -> Job:
    """Start a job, or resume the unfinished job of the build.

    Args:
        versions: published versions of the build.
        options: options of the build.
        previous: the version that is updated; None for a new build.
        lease: lease on the build.
        runtime: runtime of the stages.
        progress: progress bars.
        held_out: documents that are not counted.

    Raises:
        BitcipherError: if the version or the unfinished job was made with other options.
    """
    current = fingerprint(options, held_out)
    build = versions.build
    if previous:
        recorded = previous.manifest.fingerprint
        check_same(recorded, current, build, "make a new build from all sources")
        if recorded.get(READERS) != current[READERS]:
            progress.say(
                f"{build} was counted by an earlier version of bitcipher, which read some sources otherwise, such as "
                "pages with a false charset. Its counts stay as they are; make a new build to count all sources alike."
            )
            current = keep_readers(recorded, current)
    advice = "use the same options to resume it, or drop it with `bitcipher prune --unfinished`"
    entry = BUILD.start_job(build, _next_version(previous), current, advice)
    inputs = vocabulary_inputs(options).record()
    return Job(build, options, versions, previous, entry, lease, runtime, progress, Costs(), inputs, held_out)


def vocabulary_inputs(options: BuildOptions) -> GivenInputs:
    """Return the inputs of a version besides its sources: the word list, and the version of the embedding stage."""
    listings: dict[str, ListFiles] = {}
    if (word_list := options.word_list) is not None:
        listings["word_list"] = lambda: digest_files([word_list])
    return GivenInputs({"vectors": EMBEDDING_VERSION}, listings)


def _next_version(previous: StoredVersion | None) -> int:
    return previous.manifest.version + 1 if previous else 1


def finish_job(job: Job) -> None:
    """Remove the ledger, and files that no version refers to.

    Call it as the last step of a job: until the ledger is removed, late workers of an earlier driver can add entries.
    """
    # Without the lease, this job was suspended after it published, and another job has taken over the ledger.
    if job.lease.is_held():
        clean_up(job.versions)


def clean_up(versions: StoredVersions) -> None:
    """Remove the ledger of a job that has published its version, and unused files. The lease must be held."""
    folder_ledger(versions.build).clear()
    collect_garbage(versions)

"""Jobs that add a version to a folder of document shards: state and steps."""

from dataclasses import dataclass

import pyarrow as pa

from bitcipher.files import storage
from pipelines.ingest.document_folder import MANIFESTS, newest_manifest
from pipelines.ingest.source_groups import estimate_text_bytes
from pipelines.runtime.grouping import GroupingRuntime
from pipelines.runtime.progress import StageProgress
from pipelines.runtime.runtime import StageSpec
from pipelines.shard.clean_stage import CLEANED_TASKS, CleanedTask, CleanStage, ShardTask
from pipelines.shard.document_table import stem
from pipelines.shard.document_version import DocumentVersion, PublishedTask
from pipelines.shard.find_duplicates import DuplicateSearch
from pipelines.shard.options import RULE_FILES, ShardOptions
from pipelines.shard.write_stage import WriteInput, WriteStage, WrittenTask
from pipelines.store.fingerprint import check_same
from pipelines.store.job_folder import FolderKind, folder_ledger, job_ledger
from pipelines.store.layout import LEDGER, WORK
from pipelines.store.lease import Lease
from pipelines.store.ledger import Ledger

# Folders of the files that manifests refer to.
FILE_FOLDERS = ("documents", "keys", "dropped", "quarantine")

DOCUMENT_SHARDS = FolderKind(
    "document shards",
    is_published=lambda folder: newest_manifest(folder) is not None,
    names=(*FILE_FOLDERS, MANIFESTS, LEDGER, WORK),
    entries=(CLEANED_TASKS,),
    work=CLEANED_TASKS,
    job_name="shard-job",
)


@dataclass(frozen=True)
class ShardJob:
    """A running job: the state that its steps share. The job holds `lease` while it runs."""

    out: str
    """Folder of the document shards."""
    options: ShardOptions
    base: DocumentVersion | None
    """The newest version; None for a new folder."""
    lease: Lease
    runtime: GroupingRuntime
    progress: StageProgress

    @property
    def version(self) -> int:
        """Number of the new version."""
        return self.base.manifest.version + 1 if self.base else 1

    @property
    def work(self) -> str:
        """Folder of temporary files."""
        return storage.join(self.out, WORK)

    def check_base(self) -> None:
        """Check that the newest version has the same options, and that its tables fit together.

        Raises:
            BitcipherError: if it has other options, or a table is missing or damaged.
        """
        if self.base:
            advice = "use the same options, or choose another folder"
            recorded, current = self.base.manifest.fingerprint, self.options.fingerprint()
            if RULE_FILES in current and RULE_FILES not in recorded:
                del current[RULE_FILES]
                self.progress.say(
                    f"{self.out} was made by a version of bitcipher that did not record the contents of the files of "
                    "rules, so changes of them cannot be noticed."
                )
            check_same(recorded, current, self.out, advice)
            self.base.check_tasks()

    def start(self) -> Ledger:
        """Start the job, or resume the unfinished one, and return the ledger of its work.

        Raises:
            BitcipherError: if the unfinished job has other options.
        """
        # An attempt that does not keep dropped documents leaves tasks without them.
        fingerprint = self.options.fingerprint() | {"keep_dropped": self.options.keep_dropped}
        advice = f"use the same options to resume it, or remove {folder_ledger(self.out).uri} and {self.work}"
        return job_ledger(self.out, DOCUMENT_SHARDS.start_job(self.out, self.version, fingerprint, advice))


def clean_tasks(job: ShardJob, ledger: Ledger, tasks: list[ShardTask]) -> list[CleanedTask]:
    """Return the cleaned tasks, sorted by id. Tasks in the ledger of the job are not cleaned again."""
    finished = ledger.entries(CLEANED_TASKS)
    sizes = {task.id: sum(map(estimate_text_bytes, task.sources)) for task in tasks}
    cleaned = {task.id: finished[task.id] for task in tasks if task.id in finished}
    bar = job.progress.begin("clean", sum(sizes.values()), done=sum(sizes[name] for name in cleaned))
    arguments = {"work": job.work, "ledger": ledger.uri, "options": job.options}
    waiting = [task for task in tasks if task.id not in cleaned]
    read = sum(task.accounts.records for task in cleaned.values())
    kept = sum(task.accounts.kept for task in cleaned.values())
    for result in job.runtime.stream(StageSpec("clean", CleanStage, arguments), waiting):
        cleaned[result.value.id] = result.value
        read += result.value.accounts.records
        kept += result.value.accounts.kept
        job.progress.advance(bar, sizes[result.value.id], f"{read:,} records, {kept:,} kept")
    job.progress.end(bar)
    return [cleaned[name] for name in sorted(cleaned)]


def find_removals(job: ShardJob, kept: list[PublishedTask], cleaned: list[CleanedTask]) -> list[WriteInput]:
    """Find duplicates, and return what is removed from each cleaned task.

    Args:
        job: the job.
        kept: published tasks, whose documents are never removed.
        cleaned: cleaned tasks, sorted by id.
    """
    published = [(stem(name), task.id) for task in kept for name in task.files]
    new = [(file.name, task.id) for task in cleaned for file in task.files]
    owners = pa.array([task for _, task in (*published, *new)], pa.string())
    folders = [storage.join(job.out, "keys")] * len(published) + [storage.join(job.work, "keys")] * len(new)
    names = [name for name, _ in (*published, *new)]
    bar = job.progress.begin("dedup", 1)
    memory_bytes = job.options.memory_mib << 20
    search = DuplicateSearch(folders, names, len(published), job.options.duplicates, job.runtime, memory_bytes)
    search.run()
    job.progress.end(bar)
    number = len(published)
    inputs = []
    for task in cleaned:
        files = range(number, number + len(task.files))
        dropped = tuple(_with_owner(search.dropped_documents(file), owners) for file in files)
        inputs.append(WriteInput(task, dropped, tuple(search.removed_lines(file) for file in files)))
        number += len(task.files)
    return inputs


def write_tasks(job: ShardJob, inputs: list[WriteInput]) -> list[WrittenTask]:
    """Write the document shards of cleaned tasks, and return the written tasks, sorted by id."""
    bar = job.progress.begin("write", len(inputs))
    written, documents = [], 0
    arguments = {"out": job.out, "work": job.work, "version": job.version, "options": job.options}
    for result in job.runtime.stream(StageSpec("write", WriteStage, arguments), inputs):
        written.append(result.value)
        documents += result.value.accounts.kept
        job.progress.advance(bar, 1, f"{documents:,} documents")
    job.progress.end(bar)
    return sorted(written, key=lambda task: task.id)


def _with_owner(dropped: pa.Table, owners: pa.Array) -> pa.Table:
    """Return decisions with the task of the document that is kept, instead of its id."""
    files = pa.array(dropped["kept"].to_numpy() >> 32)
    column = dropped.schema.get_field_index("kept")
    return dropped.set_column(column, "kept_task", owners.take(files))

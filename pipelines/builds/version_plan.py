"""Plan of a version: tasks to count, and tasks of the previous version to keep."""

from dataclasses import dataclass

from pipelines.count.count_stage import CountTask, plan_tasks
from pipelines.ingest.source_changes import SourceChanges
from pipelines.ingest.sources import Source
from pipelines.store.manifest import CountedTask
from pipelines.store.stored_versions import StoredVersion


@dataclass(frozen=True)
class VersionPlan:
    """Tasks and sources of a version."""

    to_count: list[CountTask]
    """Tasks with content that the previous version lacks."""
    kept_tasks: list[CountedTask]
    """Tasks of the previous version whose shards are kept."""
    sources: list[Source]
    """All sources of the new version. Of several sources with the same content, there is only one."""

    @property
    def kept_shards(self) -> set[str]:
        """Names of the shards of the kept tasks."""
        return {name for task in self.kept_tasks for name in task.shards}


def plan_version(
    sources: list[Source], changes: SourceChanges, replace: bool, base: StoredVersion | None, shard_bytes: int
) -> VersionPlan:
    """Return the plan of a version.

    Args:
        sources: the listed sources, with content hashes.
        changes: difference between the listed sources and those of the previous version.
        replace: subtract the counts of removed content, and count changed sources.
        base: the previous version, or None.
        shard_bytes: bytes of UTF-8 text per shard.
    """
    known = list(base.sources) if base else []
    removed = changes.removed_content(known) if replace else set()
    kept_tasks = [task for task in base.tasks if not removed & set(task.sources)] if base else []
    counted = {sha256 for task in kept_tasks for sha256 in task.sources}
    # A task with removed content is not kept, so its remaining content is counted again.
    wanted = {s.sha256: s for s in (*known, *sources) if s.sha256 not in removed and s.sha256 not in counted}
    if not replace:
        for source in changes.changed:
            wanted.pop(source.sha256, None)
    to_count = plan_tasks(sorted(wanted.values(), key=_uri_bytes), shard_bytes)
    by_content = {s.sha256: s for s in (*known, *sources) if s.sha256 in counted or s.sha256 in wanted}
    return VersionPlan(to_count, kept_tasks, sorted(by_content.values(), key=_uri_bytes))


def _uri_bytes(source: Source) -> bytes:
    return source.uri.encode()

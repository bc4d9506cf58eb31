"""Run one stage in this process, so that its peak memory is that of the process.

run_stage.py count BUILD MEMORY_MIB SHARD_MIB line|file DATA...  counts sources, and prints the number of tokens
run_stage.py merge BUILD MEMORY_MIB                              merges all counted shards
"""

import sys

from bitcipher.files import storage
from pipelines.count.count_stage import CountStage, plan_tasks
from pipelines.ingest.content_hash import hash_sources
from pipelines.ingest.sources import list_sources
from pipelines.merge.merge_segments import merge_segments
from pipelines.options import BuildOptions
from pipelines.runtime.in_process import InProcessRuntime
from pipelines.runtime.memory_budget import MemoryBudget
from pipelines.store import layout
from pipelines.store.build_folder import COUNTED_SHARDS
from pipelines.store.ledger import Ledger
from pipelines.store.segments import Merge


def count(build: str, memory_mib: str, shard_mib: str, document: str, *data: str) -> None:
    """Count all tasks of a corpus."""
    options = BuildOptions(document=document, shard_mib=int(shard_mib), memory_mib=int(memory_mib))
    stage = CountStage(build, storage.join(build, layout.LEDGER), options)
    sources = hash_sources(list_sources(data), [], InProcessRuntime())
    print(sum(counted.shard.tokens for task in plan_tasks(sources, options.shard_mib << 20) for counted in stage(task)))


def merge(build: str, memory_mib: str) -> None:
    """Merge all shards, with all stages and the driver in this process."""
    shards = tuple(Ledger(storage.join(build, layout.LEDGER)).entries(COUNTED_SHARDS).values())
    work = storage.join(build, layout.WORK)
    limits = MemoryBudget(int(memory_mib)).range_limits
    merge_segments({"all": Merge(shards)}, build, layout.SEGMENTS, work, limits, InProcessRuntime())


if __name__ == "__main__":
    mode, *arguments = sys.argv[1:]
    {"count": count, "merge": merge}[mode](*arguments)

"""Run one stage in this process, so that its peak memory is that of the process.

run_stage.py count BUILD MEMORY_MEGABYTES SHARD_MEGABYTES line|file DATA...  prints how many tokens were counted
run_stage.py merge BUILD MEMORY_MEGABYTES                                    adds up all the shards that were counted
"""

import sys

from bitcipher import storage
from pipelines.count.count_stage import CountStage
from pipelines.count.count_tasks import plan_counting
from pipelines.ingest.content_hash import hash_sources
from pipelines.ingest.sources import list_sources
from pipelines.merge.merge_segments import merge_segments
from pipelines.runtime.memory_budget import MemoryBudget
from pipelines.runtime.runtime import InProcessRuntime
from pipelines.store import layout
from pipelines.store.ledger import Ledger
from pipelines.store.segments import Merge, Segment


def count(build: str, memory_mib: str, shard_mib: str, document: str, *data: str) -> None:
    """Count all tasks of a corpus."""
    shard_bytes = int(shard_mib) << 20
    context_window = {"window": 4, "summed": False}
    text = {"document": document, "field": "text", "tokenizer": "spacy", "lowercase": True}
    ledger, memory = storage.join(build, layout.LEDGER), int(memory_mib)
    stage = CountStage(build, ledger, **text, **context_window, shard_bytes=shard_bytes, memory_mib=memory)
    sources = hash_sources(list_sources(data), [], InProcessRuntime())
    print(sum(shard["tokens"] for task in plan_counting(sources, shard_bytes) for shard in stage(task.to_row())))


def merge(build: str, memory_mib: str) -> None:
    """Merge all shards, including the work of the driver."""
    entries = Ledger(storage.join(build, layout.LEDGER)).entries("count/").values()
    shards = tuple(Segment.from_dict(entry) for entry in entries if "parts" in entry)
    work = storage.join(build, layout.WORK)
    range_entries = MemoryBudget(int(memory_mib)).range_entries
    merge_segments({"all": Merge(shards)}, build, layout.SEGMENTS, work, range_entries, InProcessRuntime())


if __name__ == "__main__":
    mode, *arguments = sys.argv[1:]
    {"count": count, "merge": merge}[mode](*arguments)

"""Runs a stage alone in this process, as a worker would, so that its peak memory is the process's.

run_stage.py count BUILD MEMORY_MEGABYTES SHARD_MEGABYTES line|file DATA...  prints how many tokens were counted
run_stage.py merge BUILD MEMORY_MEGABYTES                                    adds up all the shards that were counted
"""

import sys

from bitcipher import storage
from pipelines import folder
from pipelines.budget import Budget
from pipelines.count import CountStage
from pipelines.identify import identify
from pipelines.ledger import Ledger
from pipelines.merge import merge_segments
from pipelines.plan import plan_counting
from pipelines.runtime import InProcess
from pipelines.segments import Merge, Segment
from pipelines.sources import list_sources


def count(build: str, memory_megabytes: str, shard_megabytes: str, document: str, *data: str) -> None:
    """Count all tasks of a corpus."""
    shard_bytes = int(shard_megabytes) << 20
    window = {"radius": 4, "summed": False}
    text = {"document": document, "field": "text", "tokenizer": "spacy", "lowercase": True}
    ledger, memory = storage.join(build, folder.LEDGER), int(memory_megabytes)
    stage = CountStage(build, ledger, **text, **window, shard_bytes=shard_bytes, memory_megabytes=memory)
    sources = identify(list_sources(data), [], InProcess())
    print(sum(shard["tokens"] for task in plan_counting(sources, shard_bytes) for shard in stage(task.to_row())))


def merge(build: str, memory_megabytes: str) -> None:
    """Add up all shards, with what a job's own process does of it."""
    entries = Ledger(storage.join(build, folder.LEDGER)).entries("count/").values()
    shards = tuple(Segment.from_dict(entry) for entry in entries if "parts" in entry)
    work = storage.join(build, folder.WORK)
    range_entries = Budget(int(memory_megabytes)).range_entries
    merge_segments({"all": Merge(shards)}, build, folder.SEGMENTS, work, range_entries, InProcess())


if __name__ == "__main__":
    mode, *arguments = sys.argv[1:]
    {"count": count, "merge": merge}[mode](*arguments)

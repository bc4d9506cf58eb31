"""Find near duplicates with datatrove's MinHash, in the environment of datatrove.

duplicates_datatrove.py CORPUS WORK

Prints file, row and cluster of each document in a cluster, one per line.
"""

import os
import struct
import sys
from pathlib import Path

os.environ["DATATROVE_COLORIZE_LOGS"] = "0"

from datatrove.executor import LocalPipelineExecutor
from datatrove.pipeline.dedup import MinhashDedupBuckets, MinhashDedupCluster, MinhashDedupSignature
from datatrove.pipeline.dedup.minhash import MinhashConfig
from datatrove.pipeline.readers import JsonlReader


def main(corpus: str, work: str) -> None:
    """Find near duplicates in all files of a directory, with default options."""
    config = MinhashConfig()
    steps = [
        [JsonlReader(corpus), MinhashDedupSignature(f"{work}/signatures", config=config)],
        [MinhashDedupBuckets(f"{work}/signatures", f"{work}/buckets", config=config)],
        [MinhashDedupCluster(f"{work}/buckets", f"{work}/clusters", config=config, save_cluster_id=True)],
    ]
    tasks = [len(list(Path(corpus).iterdir())), config.num_buckets, 1]
    for number, (pipeline, size) in enumerate(zip(steps, tasks, strict=True)):
        LocalPipelineExecutor(pipeline, tasks=size, workers=1, logging_dir=f"{work}/logs-{number}").run()
    for path in sorted(Path(work, "clusters").glob("*.clusters")):
        for row, cluster in struct.iter_unpack("<II", path.read_bytes()):
            print(int(path.stem), row, cluster)


if __name__ == "__main__":
    main(*sys.argv[1:])

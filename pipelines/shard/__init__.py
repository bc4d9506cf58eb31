"""Document shards: from sources to clean Parquet files without duplicates; see README.md."""

from pipelines.shard.options import ShardOptions
from pipelines.shard.shard_corpus import ShardResult, shard_corpus

__all__ = ["ShardOptions", "ShardResult", "shard_corpus"]

"""Document shards: from sources to clean Parquet files without duplicates; see README.md."""

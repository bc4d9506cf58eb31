"""Report of document shards."""

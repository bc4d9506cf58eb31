"""Source listing, content hashes, readers and documents."""

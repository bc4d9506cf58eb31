"""Exact counting of words and pairs, their files (segments), merging, and digests."""

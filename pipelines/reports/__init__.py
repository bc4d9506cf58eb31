"""HTML reports about word vectors: demo report, explorer page and word maps."""

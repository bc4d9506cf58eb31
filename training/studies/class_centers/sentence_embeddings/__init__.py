"""Classes of sentences in the embeddings of encoders; see README.md."""

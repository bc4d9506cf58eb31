"""Text for language models: tokenizers, token shards, and the order of the sequences."""

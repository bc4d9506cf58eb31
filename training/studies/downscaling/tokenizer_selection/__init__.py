"""Selection of a tokenizer for a corpus by word-split ratio and sub-token matching score; see README.md."""

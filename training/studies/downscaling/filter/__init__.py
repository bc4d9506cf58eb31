"""Corpus filter: spans and sentences in a small vocabulary, with a control sample; see README.md."""

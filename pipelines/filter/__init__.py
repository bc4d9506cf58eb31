"""Corpus filter: spans and sentences in a small vocabulary, with a control sample; see README.md."""

from pipelines.filter.filter_corpus import filter_corpus
from pipelines.filter.options import FilterOptions

__all__ = ["FilterOptions", "filter_corpus"]

"""A reduced language: what of a corpus is in a small vocabulary, and its twin of all words; see README.md."""

from pipelines.filter.filter_corpus import filter_corpus
from pipelines.filter.options import FilterOptions

__all__ = ["FilterOptions", "filter_corpus"]

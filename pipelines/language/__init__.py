"""A reduced language: what of a corpus is in a small vocabulary, and its twin of all words; see README.md."""

from pipelines.language.build_language import build_language
from pipelines.language.options import LanguageOptions

__all__ = ["LanguageOptions", "build_language"]

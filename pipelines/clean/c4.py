"""Line rule of C4 (Raffel et al. 2020, section 2.2)."""

import re
from typing import Literal

from pydantic import Field

from pipelines.clean.base import CleaningRule, Drop
from pipelines.clean.document import Document
from pipelines.lean_imports import import_spacy

_CITATION = re.compile(r"\[\d*]|\[edit]|\[citation needed]")
_LINE_ENDS = (".", "?", "!", '"', "'")
_ELLIPSIS = "..."
# The phrases are from the code of C4 (`c4_utils.py` in TensorFlow Datasets), which the paper describes as boilerplate.
_POLICIES = ("terms of use", "privacy policy", "cookie policy", "uses cookies", "use of cookies", "use cookies")


class C4Rule(CleaningRule):
    """Removes lines that are not prose, and drops documents with few sentences (Raffel et al. 2020, section 2.2).

    Lines that mention JavaScript, cookies or terms of use are removed. Documents with "lorem ipsum" or a curly bracket
    in a line that is not removed before are dropped. Kept lines lose white space at both ends.
    """

    rule: Literal["c4"] = "c4"
    """Remove lines that are not prose, and drop documents with few sentences."""
    require_terminal_punctuation: bool = True
    """Remove lines that do not end with a period, question mark, exclamation mark or quotation mark, or that end with
    three periods."""
    min_words_per_line: int = Field(3, ge=0)
    """Minimum number of words of a line, split at white space."""
    max_word_length: int = Field(1000, ge=1)
    """Maximum length of the words of a line, in characters."""
    min_sentences: int = Field(5, ge=0)
    """Minimum number of sentences in the kept lines."""
    remove_citations: bool = True
    """Remove the citation marks of Wikipedia, such as [1] and [citation needed]."""

    def apply(self, document: Document) -> Document | Drop:
        """Remove lines, or drop the document."""
        kept: list[str] = []
        for line in document.lines:
            words = line.split()
            if len(line) > self.max_word_length and len(max(words, key=len, default="")) > self.max_word_length:
                continue
            line = line.strip()
            if self.remove_citations and "[" in line:
                line = _CITATION.sub("", line)
            if self.require_terminal_punctuation and (not line.endswith(_LINE_ENDS) or line.endswith(_ELLIPSIS)):
                continue
            if len(words) < self.min_words_per_line:
                continue
            lowercase = line.lower()
            if "lorem ipsum" in lowercase:
                return Drop("lorem ipsum")
            if "javascript" in lowercase:
                continue
            if "{" in line:
                return Drop("curly bracket")
            if any(map(lowercase.__contains__, _POLICIES)):
                continue
            kept.append(line)
        if self.min_sentences and self._count_sentences(kept) < self.min_sentences:
            return Drop("too few sentences")
        text = "\n".join(kept).strip()
        return document if text == document.text else document.with_text(text)

    def _count_sentences(self, lines: list[str]) -> int:
        import_spacy()
        from pipelines.clean.word_table import current_table

        return sum(map(current_table().count_sentences, lines))

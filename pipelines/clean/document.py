"""Document of web text, with values that several rules need."""

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Self
from urllib.parse import urlsplit

from pipelines.lean_imports import import_spacy

if TYPE_CHECKING:
    from pipelines.clean.word_table import Words


@dataclass(slots=True)
class Document:
    """Whole document of a corpus. Do not change its fields: `with_text` and `with_language` return new documents.

    Words, lines and the host are computed when a rule first needs them, and kept for the following rules.

    Attributes:
        text: the text.
        url: address of the page, or "".
        date: date of the page as the source gives it, or "".
        language: code of the language, such as "en", or "" if it is unknown.
    """

    text: str
    url: str = ""
    date: str = ""
    language: str = ""
    _words: "Words | None" = field(default=None, repr=False, compare=False)
    _lines: list[str] | None = field(default=None, repr=False, compare=False)
    _host: str | None = field(default=None, repr=False, compare=False)

    def with_text(self, text: str) -> Self:
        """Return a copy with another text."""
        return replace(self, text=text, _words=None, _lines=None)

    def with_language(self, language: str) -> Self:
        """Return a copy with another language."""
        return replace(self, language=language)

    @property
    def words(self) -> "Words":
        """Words of the text, as by spaCy's English rules."""
        if self._words is None:
            import_spacy()
            from pipelines.clean.word_table import words_of

            self._words = words_of(self.text)
        return self._words

    @property
    def lines(self) -> list[str]:
        """Lines of the text, as by `str.splitlines`."""
        if self._lines is None:
            self._lines = self.text.splitlines()
        return self._lines

    @property
    def host(self) -> str:
        """Host of the URL in lower case, or "" if the URL has none."""
        if self._host is None:
            self._host = host_of(self.url)
        return self._host


def host_of(url: str) -> str:
    """Return the host of a URL in lower case, or "" if it has none."""
    try:
        return (urlsplit(url).hostname or "").rstrip(".")
    except ValueError:  # for example, an IPv6 address without its closing bracket
        return ""

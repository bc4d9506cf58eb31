"""Unicode rule: repair of wrongly decoded text, and a normal form."""

from typing import Literal

from bitcipher.normalization import normalize
from pipelines.clean.base import CleaningRule
from pipelines.clean.document import Document

# Punctuation that is common in English text. ftfy changes it only next to characters that are neither ASCII nor in this
# list, and both normal forms keep it.
TYPOGRAPHIC = "‘’“”–—"


class UnicodeRule(CleaningRule):
    """Repairs text that was decoded with a wrong encoding, and converts it to a normal form.

    The repairs are those of ftfy (Speer 2019) that restore text. Those that choose a style are left out, as in FineWeb:
    curly quotes, ligatures and character widths stay, unless the form NFKC replaces them.
    """

    rule: Literal["unicode"] = "unicode"
    """Repair text that was decoded with a wrong encoding, convert it to a normal form, and remove invisible
    characters."""
    form: Literal["NFC", "NFKC"] = "NFC"
    """Normal form. NFKC also replaces ligatures, fullwidth letters and other variants of characters."""

    def apply(self, document: Document) -> Document:
        """Return the document with its text repaired."""
        text = normalize(repair(document.text, self.form))
        return document if text == document.text else document.with_text(text)


def repair(text: str, form: Literal["NFC", "NFKC"]) -> str:
    """Return the text as `ftfy.fix_text` repairs it.

    ftfy repairs each line by itself, so lines that it would not change are skipped. There is one exception: after the
    first "<", ftfy assumes HTML, and leaves entities such as "&amp;" as they are.
    """
    if _is_plain(text.replace("\n", "")):
        return text
    import ftfy

    config = ftfy.TextFixerConfig(
        fix_latin_ligatures=False,
        fix_character_width=False,
        uncurl_quotes=False,
        normalization=form,
        explain=False,
    )
    if "&" in text and "<" in text:
        return ftfy.fix_text(text, config)
    # ftfy repairs a line together with its line feed, which only the last line lacks.
    *lines, last = text.split("\n")
    lines = [*(f"{line}\n" for line in lines), last]
    return "".join([line if _is_plain(line.removesuffix("\n")) else ftfy.fix_text(line, config) for line in lines])


def _is_plain(line: str) -> bool:
    """Return whether a line has only printable ASCII, tabs and `TYPOGRAPHIC` punctuation, and no entities."""
    if not line.isascii():
        for character in TYPOGRAPHIC:
            line = line.replace(character, "")
    return line.isascii() and "&" not in line and (line.isprintable() or line.replace("\t", "").isprintable())

"""Console and number formats for the output of all commands."""

from collections.abc import Sequence

from pipelines.runtime.visible_console import VisibleConsole

# Words and paths come from data, so brackets and colons in them are neither markup nor names of emoji.
OUT = VisibleConsole(highlight=False, soft_wrap=True, markup=False, emoji=False)


def format_word(word: str) -> str:
    """Return a word on one line, with escapes if it is not printable."""
    return word if word.isprintable() else repr(word)


def format_share(share: float) -> str:
    """Return a fraction as a percentage with one decimal."""
    return f"{share:.1%}"


def format_count(number: int, noun: str) -> str:
    """Return a number with its noun in singular or plural, such as `1 file` or `2 files`."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def format_table_size(words: int, dimensions: int | None) -> str:
    """Return the size of a table of vectors, such as `1 word, 50 dimensions`."""
    return f"{format_count(words, 'word')}, {format_count(dimensions or 0, 'dimension')}"


def list_examples(words: Sequence[str], limit: int) -> str:
    """Return at most `limit` words of a list as text, and the number of its other words."""
    if not words:
        return "none"
    more = f" and {len(words) - limit:,} more" if len(words) > limit else ""
    return ", ".join(map(format_word, words[:limit])) + more

"""What `bitcipher explain` and `bitcipher infer` print."""

from collections.abc import Sequence

from rich.console import Console
from rich.table import Table

from bitcipher.explain import DimensionShare, Explanation

_OUT = Console(highlight=False, soft_wrap=True, markup=False)

# Letters of the longest bar.
BAR = 16


def contexts(explanation: Explanation) -> None:
    """Contributions with their shares of the similarity, the rest, and the sum."""
    _OUT.print(f"{_title(explanation.words)}: cosine {explanation.similarity:.4f}\n")
    table = _table("context word", "where", "adds", "share", "")
    most = max((abs(each.weight) for each in explanation.contributions), default=1.0)
    for each in explanation.contributions:
        share = _share(each.weight, explanation.similarity)
        table.add_row(_plain(each.word), _where(each.offset), f"{each.weight:+.4f}", share, _bar(each.weight, most))
    table.add_row("all others", "", f"{explanation.rest:+.4f}", _share(explanation.rest, explanation.similarity))
    table.add_row("sum", "", f"{explanation.similarity:+.4f}", _share(explanation.similarity, explanation.similarity))
    _OUT.print(table)


def dimensions(word: str, other: str | None, shares: Sequence[DimensionShare]) -> None:
    """What dimensions add, each with its offset, bit and strongest context words."""
    _OUT.print(f"{_title((word,) if other is None else (word, other))}, by dimension\n")
    table = _table("context words", "where", "bit", "adds", "")
    most = max((abs(each.weight) for each in shares), default=1.0)
    for each in shares:
        words = "  ".join(f"{_plain(part.word)} {_share(part.weight, each.weight)}" for part in each.contributions)
        table.add_row(words, _where(each.offset), str(each.bit), f"{each.weight:+.4f}", _bar(each.weight, most))
    _OUT.print(table)


def inferred(word: str, sentences: int, neighbors: Sequence[tuple[str, float]]) -> None:
    """The neighbors of a word that was inferred."""
    held = "1 sentence" if sentences == 1 else f"{sentences:,} sentences"
    table = Table(f"{_plain(word)} (from {held})", "cosine", box=None, pad_edge=False)
    for other, cosine in neighbors:
        table.add_row(_plain(other), f"{cosine:.3f}")
    _OUT.print(table)


def _table(*columns: str) -> Table:
    table = Table(*columns, box=None, pad_edge=False)
    for column in table.columns:
        column.justify = "right" if column.header in ("bit", "adds", "share") else "left"
    for column in table.columns[1:4]:
        column.no_wrap = True  # a narrow window folds what is beside the numbers
    return table


def _title(words: Sequence[str]) -> str:
    return " and ".join(map(_plain, words))


def _where(offset: int) -> str:
    if not offset:
        return "window"
    return f"{abs(offset)} {'before' if offset < 0 else 'after'}"


def _share(weight: float, whole: float) -> str:
    return f"{weight / whole:.1%}" if whole else ""


def _bar(weight: float, most: float) -> str:
    return "█" * max(1, round(BAR * abs(weight) / (most or 1.0)))


def _plain(word: str) -> str:
    """A word on one line, whatever it holds."""
    return word if word.isprintable() else repr(word)

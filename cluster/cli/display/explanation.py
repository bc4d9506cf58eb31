"""Output of `bitcipher explain` and `bitcipher infer`."""

from collections.abc import Sequence

from rich.table import Table

from bitcipher.explain.contributions import DimensionShare, Explanation
from cluster.cli.display.console import OUT, format_count, format_share, format_word
from cluster.cli.display.tables import TextTable

# Length of the longest bar, in characters. Bars of negative weights are light.
BAR_LENGTH = 16


def print_contexts(explanation: Explanation) -> None:
    """Print the strongest contributions with their shares of the similarity, the remainder, and the sum."""
    OUT.print(f"{_title(explanation.words)}: cosine {explanation.similarity:.4f}\n")
    heading = "context word or n-gram" if explanation.ngrams else "context word"
    table = _bar_table(heading, "position", "contribution", "share", "")
    rows = [(each.word, _position(each.offset), each.weight) for each in explanation.contributions]
    rows += [(each.ngram, "spelling", each.weight) for each in explanation.ngrams]
    largest = max((abs(weight) for *_, weight in rows), default=1.0)
    for word, position, weight in rows:
        share, bar = _share(weight, explanation.similarity), _bar(weight, largest)
        table.add_row(format_word(word), position, f"{weight:+.4f}", share, bar)
    table.add_row("all others", "", f"{explanation.rest:+.4f}", _share(explanation.rest, explanation.similarity))
    table.add_row("sum", "", f"{explanation.similarity:+.4f}", _share(explanation.similarity, explanation.similarity))
    OUT.print(table)


def print_dimensions(word: str, other: str | None, shares: Sequence[DimensionShare]) -> None:
    """Print the contributions of dimensions, each with its offset, bit and strongest context words."""
    OUT.print(f"{_title((word,) if other is None else (word, other))}, by dimension\n")
    table = _bar_table("context words", "position", "bit", "contribution", "")
    largest = max((abs(each.weight) for each in shares), default=1.0)
    for each in shares:
        words = "  ".join(f"{format_word(part.word)} {_share(part.weight, each.weight)}" for part in each.contributions)
        bar = _bar(each.weight, largest)
        table.add_row(words, _position(each.offset), str(each.bit), f"{each.weight:+.4f}", bar)
    OUT.print(table)


def print_inferred(word: str, sentences: int, neighbors: Sequence[tuple[str, float]]) -> None:
    """Print the neighbors of an inferred vector."""
    table = TextTable(f"{format_word(word)} (from {format_count(sentences, 'sentence')})", "cosine")
    for other, cosine in neighbors:
        table.add_row(format_word(other), f"{cosine:.3f}")
    table.print()


def _bar_table(*columns: str) -> Table:
    table = Table(*columns, box=None, pad_edge=False)
    table.columns[0].overflow = "fold"
    for column in table.columns:
        column.justify = "right" if column.header in ("bit", "contribution", "share") else "left"
    for column in table.columns[1:4]:
        column.no_wrap = True  # in a narrow terminal, fold the words instead of the numbers
    return table


def _title(words: Sequence[str]) -> str:
    return " and ".join(map(format_word, words))


def _position(offset: int) -> str:
    if not offset:
        return "window"
    return f"{abs(offset)} {'before' if offset < 0 else 'after'}"


def _share(weight: float, whole: float) -> str:
    return format_share(weight / whole) if whole else ""


def _bar(weight: float, largest: float) -> str:
    return ("█" if weight >= 0 else "░") * max(1, round(BAR_LENGTH * abs(weight) / (largest or 1.0)))

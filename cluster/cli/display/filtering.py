"""What `filter` prints: what was kept of each folder of sources, and the words that kept most out."""

from typing import Any

from rich.console import Console
from rich.table import Table

from pipelines.filter.accounting import kept_spans, missing_spans, words_in_spans
from pipelines.filter.filtering import SENTENCES, SPANS

# Words to show of the many that are unknown.
SHOWN = 10

# Paths and words come from data: a bracket in them is a bracket, not markup.
_OUT = Console(highlight=False, soft_wrap=True, markup=False)


def show_language(told: dict[str, Any], out: str) -> None:
    """The accounting of a language, in short.

    Args:
        told: see `pipelines.filter.filter_corpus`.
        out: its folder.
    """
    total, levels = told["total"], [level for level in (SPANS, SENTENCES) if level in told["total"]]
    shares = [column for level in levels for column in (f"{level} kept", "share")]
    table = Table("sources in", "documents", *shares, "written: train", "development", "test", box=None, pad_edge=False)
    for column in table.columns[1:]:
        column.justify = "right"
    for folder, counts in told["folders"].items():
        table.add_row(folder.rpartition("/")[2], *_figures(counts, levels))
    if len(told["folders"]) > 1:
        table.add_row("all", *_figures(total, levels))
    _OUT.print(table)
    if total["unknown_words"]:
        _OUT.print(f"\nUnknown words that occur most: {', '.join(list(total['unknown_words'])[:SHOWN])}")
    if missing := missing_spans(total):
        _OUT.print(f"\nThe unconstrained twin has {missing:,} spans less, where a source has not as many as were kept.")
    spans, words = f"{kept_spans(total):,} spans", f"{words_in_spans(total):,} words"
    _OUT.print(f"\n{spans} with {words} in a vocabulary of {told['vocabulary']['words']:,} → {out}")


def _figures(counts: dict[str, Any], levels: list[str]) -> list[str]:
    shares = [cell for level in levels for cell in (f"{counts[level]['kept']:,}", f"{counts[level]['share_kept']:.1%}")]
    written = (f"{number:,}" for number in counts["constrained"].values())
    return [f"{sum(counts['documents'].values()):,}", *shares, *written]

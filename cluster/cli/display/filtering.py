"""Output of `bitcipher filter`: what was kept of each source directory, and the most frequent unknown words."""

from typing import Any

from cluster.cli.display.console import OUT, format_share, list_examples, make_table
from pipelines.filter.accounting import kept_spans, missing_spans, words_in_spans
from pipelines.filter.filtering import SENTENCES, SPANS

# Number of unknown words shown.
EXAMPLES = 10


def print_filtered_corpus(manifest: dict[str, Any], out: str) -> None:
    """Print a summary of a filtered corpus.

    Args:
        manifest: as `pipelines.filter.filter_corpus` returns it.
        out: directory of the filtered corpus.
    """
    total, levels = manifest["total"], [level for level in (SPANS, SENTENCES) if level in manifest["total"]]
    columns = [column for level in levels for column in (f"{level} kept", "share")]
    table = make_table("sources in", "documents", *columns, "written: train", "development", "test")
    for folder, counts in manifest["folders"].items():
        table.add_row(folder.rpartition("/")[2], *_cells(counts, levels))
    if len(manifest["folders"]) > 1:
        table.add_row("all", *_cells(total, levels))
    OUT.print(table)
    if total["unknown_words"]:
        OUT.print(f"\nMost frequent unknown words: {list_examples(list(total['unknown_words'])[:EXAMPLES], EXAMPLES)}")
    if missing := missing_spans(total):
        OUT.print(f"\nThe control sample has {missing:,} spans less: some sources have fewer spans than were kept.")
    spans, words = f"{kept_spans(total):,} spans", f"{words_in_spans(total):,} words"
    OUT.print(f"\n{spans} with {words} in a vocabulary of {manifest['vocabulary']['words']:,} → {out}")


def _cells(counts: dict[str, Any], levels: list[str]) -> list[str]:
    kept = [
        cell for level in levels for cell in (f"{counts[level]['kept']:,}", format_share(counts[level]["share_kept"]))
    ]
    written = (f"{number:,}" for number in counts["constrained"].values())
    return [f"{sum(counts['documents'].values()):,}", *kept, *written]

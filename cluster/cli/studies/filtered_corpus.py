"""Output of `bitcipher study downscaling filter`: percentages kept of directories, unknown words, bad records."""

from cluster.cli.display.console import OUT, format_count, format_share, list_examples
from cluster.cli.display.records import describe_reading, describe_records
from cluster.cli.display.tables import TextTable
from training.studies.downscaling.filter.filter_manifest import FilterCounts, FilterManifest

# Maximum number of unknown words to show.
EXAMPLES = 10


def print_filtered_corpus(manifest: FilterManifest, out: str) -> None:
    """Print a summary of a filtered corpus.

    Args:
        manifest: manifest of the filtered corpus.
        out: directory of the filtered corpus.
    """
    total = manifest.total
    levels = [level for level in ("spans", "sentences") if getattr(total, level)]
    columns = [column for level in levels for column in (f"{level} kept", "share")]
    table = TextTable("sources in", "documents", *columns, "written: train", "development", "test")
    for folder, counts in manifest.folders.items():
        table.add_row(folder.rpartition("/")[2], *_cells(counts, levels))
    if len(manifest.folders) > 1:
        table.add_row("all", *_cells(total, levels))
    table.print()
    if total.unknown_words:
        OUT.print(f"\nMost frequent unknown words: {list_examples(list(total.unknown_words)[:EXAMPLES], EXAMPLES)}")
    if total.unconstrained and (missing := total.unconstrained.missing):
        OUT.print(
            f"\nThe control sample is {missing:,} spans too small, since some sources have fewer spans than were kept."
        )
    spans, words = format_count(total.constrained.total(), "span"), format_count(total.words_in_spans, "word")
    OUT.print(f"\n{spans} with {words} in a vocabulary of {manifest.vocabulary.words:,} → {out}")
    records = total.records
    for line in filter(None, (describe_records(records), *describe_reading(records.decisions, records.textless))):
        OUT.print(line)


def _cells(counts: FilterCounts, levels: list[str]) -> list[str]:
    kept = [
        cell
        for level in levels
        for cell in (f"{getattr(counts, level).kept:,}", format_share(getattr(counts, level).share_kept))
    ]
    written = (f"{number:,}" for number in counts.constrained.to_dict().values())
    return [f"{counts.documents.total():,}", *kept, *written]

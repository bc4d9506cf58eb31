"""Sentences about records that were left out."""

from cluster.cli.display.console import format_count, format_word
from pipelines.ingest.record_counts import RecordCounts


def describe_records(counts: RecordCounts) -> str | None:
    """Return a line about bad records and undecodable characters, with the first example; None if there are none."""
    bad, characters = sum(counts.bad.values()), format_count(counts.replacements, "character")
    if not bad:
        return f"{characters} could not be decoded." if counts.replacements else None
    reasons = sorted(counts.bad.items(), key=lambda item: (-item[1], item[0]))
    line = f"{format_count(bad, 'bad record')} {'was' if bad == 1 else 'were'} left out"
    line += f" ({', '.join(f'{reason} {number:,}' for reason, number in reasons)})"
    if counts.replacements:
        line += f", and {characters} could not be decoded"
    return f"{line}. The first bad record: {format_word(counts.example or '')}"

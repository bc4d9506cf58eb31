"""Sentences about records that were left out, and about decisions of the readers."""

from collections.abc import Iterator, Mapping, Sequence

from cluster.cli.display.console import format_count, format_word, list_examples
from pipelines.ingest.record_counts import TEXTLESS, RecordCounts


def describe_records(counts: RecordCounts) -> str | None:
    """Return a line about bad records and undecodable characters, with the first example; None if there are none."""
    bad, characters = sum(counts.bad.values()), format_count(counts.replacements, "character")
    if not bad:
        return describe_replacements(counts.replacements)
    reasons = sorted(counts.bad.items(), key=lambda item: (-item[1], item[0]))
    line = f"{format_count(bad, 'bad record')} {'was' if bad == 1 else 'were'} left out"
    line += f" ({', '.join(f'{reason} {number:,}' for reason, number in reasons)})"
    if counts.replacements:
        line += f", and {characters} could not be decoded"
    return f"{line}. The first bad record: {format_word(counts.example or '')}"


def describe_replacements(replacements: int) -> str | None:
    """Return a line about characters that could not be decoded, or None if there are none."""
    return f"{format_count(replacements, 'character')} could not be decoded." if replacements else None


def describe_reading(decisions: Mapping[str, int], textless: Sequence[str]) -> Iterator[str]:
    """Yield lines about the decisions of the readers, and about sources without text.

    Args:
        decisions: number of decisions by description.
        textless: URIs of the first sources without text.
    """
    if decisions:
        parts = (f"{number:,} × {description}" for description, number in sorted(decisions.items()))
        yield f"Decided while reading: {'; '.join(parts)}."
    if textless:
        verb = "has" if len(textless) == 1 else "have"
        number = "Sources" if len(textless) == TEXTLESS else format_count(len(textless), "source")
        yield f"{number} {verb} no text: {list_examples(textless, TEXTLESS)}."

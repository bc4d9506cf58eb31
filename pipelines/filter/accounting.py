"""What a language was made of, and why the rest was left out: of each source, each folder of sources, and all."""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from pipelines.filter.filter_stage import UNCONSTRAINED
from pipelines.filter.filtering import SENTENCES, SPANS, most_frequent

# Unknown words that are told.
TOLD = 50

Counts = dict[str, Any]


def account(entries: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """The accounting of sources, from the entries of their ledger.

    Returns:
        `total`, `folders` (by the URI of the folder) and `sources`: the counts of `DocumentFilter` with the share kept
        of each level, and `unknown_words`, the most frequent first. Those of folders and of the total are summed over
        the 1,000 most frequent of each source.
    """
    folders: dict[str, list[dict[str, Any]]] = {}
    for entry in entries:
        folders.setdefault(entry["uri"].rpartition("/")[0], []).append(entry)
    return {
        "total": _sum(entries),
        "folders": {folder: _sum(own) for folder, own in folders.items()},
        "sources": [{name: entry[name] for name in ("name", "uri", "sha256")} | _sum([entry]) for entry in entries],
    }


def kept_spans(counts: Counts) -> int:
    """All spans that are kept, whatever the level."""
    return sum(counts["constrained"].values())


def words_in_spans(counts: Counts) -> int:
    """Words in all of these spans, those that are in several as often."""
    levels = [counts[level] for level in (SPANS, SENTENCES) if level in counts]
    return sum(level["words_kept"] - level.get("words_left_over", 0) for level in levels)


def missing_spans(counts: Counts) -> int:
    """Spans that the twin lacks, where a source has not as many as are kept."""
    return counts.get(UNCONSTRAINED, {}).get("missing", 0)


def _sum(entries: Iterable[dict[str, Any]]) -> dict[str, Any]:
    counts: Counts = {}
    words: Counter[str] = Counter()
    for entry in entries:
        _add(counts, entry["counts"])
        words.update(entry["unknown_words"])
    for level in (SPANS, SENTENCES):
        if level in counts:
            counts[level]["share_kept"] = counts[level]["kept"] / max(counts[level]["looked_at"], 1)
    return {**counts, "unknown_words": most_frequent(words, TOLD)}


def _add(total: Counts, counts: Counts) -> None:
    for name, value in counts.items():
        if isinstance(value, dict):
            _add(total.setdefault(name, {}), value)
        else:
            total[name] = total.get(name, 0) + value

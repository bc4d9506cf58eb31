"""Tables 1 and 6: what was kept of the text, and which tokenizer was chosen."""

from typing import Any

from training.scaling import published
from training.sweep.findings import Findings
from training.sweep.tables import NONE, PAPER, ReportTable, format_fixed, format_integer, format_percent

_LEVELS = {"spans": "span", "sentences": "sentence"}
_CHOSEN = "BPE", 19_000  # section 3.3


def accounting_table(findings: Findings) -> ReportTable:
    """Table 1: spans and sentences of each folder of sources, with words kept, and the paper's below."""
    told = findings.accounting
    folders = [(uri.rstrip("/").rpartition("/")[2] or uri, counts) for uri, counts in told.get("folders", {}).items()]
    if len(folders) > 1:
        folders.append(("all", told["total"]))
    ours = [
        (
            "ours",
            name,
            kind,
            format_integer(counts[level]["examined"]),
            format_integer(counts[level]["kept"]),
            format_percent(counts[level]["share_kept"]),
            format_integer(counts[level]["words_kept"]),
            NONE,
        )
        for name, counts in folders
        for level, kind in _LEVELS.items()
        if level in counts
    ]
    theirs = [
        (
            PAPER,
            row.corpus,
            row.filtered_by,
            NONE,
            format_integer(1e6 * row.sentences),
            NONE,
            NONE,
            format_integer(1e6 * row.tokens),
        )
        for row in published().corpora
        for sentences, tokens in [(format_integer(1e6 * row.sentences), format_integer(1e6 * row.tokens))]
    ]
    return ReportTable(
        "Table 1: text that was kept",
        ("whose", "corpus", "filtered by", "looked at", "kept", "share", "words kept", "tokens kept"),
        (*ours, *theirs) if ours else (),
        _parts(told.get("total", {})),
        "The study has no accounting of its language yet, so what was kept of the text cannot be told.",
        words=3,
    )


def _parts(total: dict[str, Any]) -> tuple[str, ...]:
    notes = []
    if constrained := total.get("constrained"):
        parts = " and ".join(f"{number:,} to {name}" for name, number in constrained.items())
        notes.append(f"Spans of the constrained language: {parts}. Kept sentences are put together into spans.")
    if unconstrained := total.get("unconstrained"):
        parts = " and ".join(f"{unconstrained[name]:,} to {name}" for name in constrained or {})
        notes.append(f"Spans of the unconstrained twin: {parts}, {unconstrained.get('missing', 0):,} less than wanted.")
    return tuple(notes)


def tokenizer_table(findings: Findings) -> ReportTable:
    """Table 6: word-split ratio and exact sub-token matching score of tokenizers, and the paper's below."""
    ours = [
        _tokenizer("ours", row["kind"], row["size"], row["ratio"], row["esms"], row["chosen"])
        for row in findings.tokenizers
    ]
    theirs = [
        _tokenizer(
            PAPER, row.kind, row.vocabulary, row.split_ratio, row.matching_score, (row.kind, row.vocabulary) == _CHOSEN
        )
        for row in published().tokenizers
    ]
    return ReportTable(
        "Table 6: choice of a tokenizer",
        ("whose", "kind", "choice", "vocabulary", "word-split ratio", "ESMS"),
        (*ours, *theirs) if ours else (),
        ("ESMS is the exact sub-token matching score. A reference has no size to choose.",) if ours else (),
        "No tokenizers were compared: the study was told which kind and size to train.",
        words=3,
    )


def _tokenizer(whose: str, kind: str, size: int | None, ratio: float, esms: float, chosen: bool) -> tuple[str, ...]:
    return (
        whose,
        kind,
        "chosen" if chosen else "",
        "reference" if size is None else format_integer(size),
        format_fixed(ratio),
        format_fixed(esms, 4),
    )

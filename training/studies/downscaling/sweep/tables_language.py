"""Tables 1 and 6, numbered as in Deshpande et al. (2023): text kept by the filter, and the choice of a tokenizer."""

from typing import Any

from training.studies.downscaling.scaling.published import published
from training.studies.downscaling.sweep.findings import Findings
from training.studies.downscaling.sweep.tables import (
    NONE,
    PAPER,
    ReportTable,
    format_fixed,
    format_integer,
    format_percent,
)

_LEVELS = {"spans": "span", "sentences": "sentence"}
# The choice of Deshpande et al. (2023), section 3.3.
_PAPER_CHOICE = "BPE", 19_000


def accounting_table(findings: Findings) -> ReportTable:
    """Return Table 1: numbers of spans and sentences that were kept of each source folder, then the paper's numbers."""
    accounting = findings.accounting
    folders = [
        (uri.rstrip("/").rpartition("/")[2] or uri, counts) for uri, counts in accounting.get("folders", {}).items()
    ]
    if len(folders) > 1:
        folders.append(("all", accounting["total"]))
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
    ]
    return ReportTable(
        "Table 1: text kept by the filter",
        ("source", "corpus", "filtered by", "examined", "kept", "fraction kept", "words kept", "tokens kept"),
        (*ours, *theirs) if ours else (),
        _parts(accounting.get("total", {})),
        "The corpus has not been filtered yet, so there is no Table 1.",
        text_columns=3,
    )


def _parts(total: dict[str, Any]) -> tuple[str, ...]:
    notes = []
    if constrained := total.get("constrained"):
        parts = " and ".join(f"{number:,} to {name}" for name, number in constrained.items())
        notes.append(f"Spans of the constrained language: {parts}. Kept sentences are joined into spans.")
    if unconstrained := total.get("unconstrained"):
        missing = unconstrained.get("missing", 0)
        parts = " and ".join(f"{unconstrained[name]:,} to {name}" for name in constrained or {})
        notes.append(f"Spans of the unconstrained control sample: {parts}, {missing:,} fewer than requested.")
    return tuple(notes)


def tokenizer_table(findings: Findings) -> ReportTable:
    """Return Table 6: word-split ratio and exact sub-token matching score of tokenizers, then the paper's numbers."""
    ours = [
        _tokenizer("ours", row["kind"], row["size"], row["ratio"], row["esms"], row["chosen"])
        for row in findings.tokenizers
    ]
    theirs = [
        _tokenizer(
            PAPER,
            row.kind,
            row.vocabulary,
            row.split_ratio,
            row.matching_score,
            (row.kind, row.vocabulary) == _PAPER_CHOICE,
        )
        for row in published().tokenizers
    ]
    return ReportTable(
        "Table 6: choice of a tokenizer",
        ("source", "kind", "choice", "vocabulary", "word-split ratio", "ESMS"),
        (*ours, *theirs) if ours else (),
        ("ESMS is the exact sub-token matching score. References are pre-trained tokenizers.",) if ours else (),
        "No tokenizers were compared, because the study sets the kind and size.",
        text_columns=3,
    )


def _tokenizer(source: str, kind: str, size: int | None, ratio: float, esms: float, chosen: bool) -> tuple[str, ...]:
    return (
        source,
        kind,
        "chosen" if chosen else "",
        "reference" if size is None else format_integer(size),
        format_fixed(ratio),
        format_fixed(esms, 4),
    )

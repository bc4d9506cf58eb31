"""Rule for choosing among tokenizers (Deshpande et al. 2023, section 3.3)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pydantic import Field

from bitcipher.errors import BitcipherError
from bitcipher.files.records import Record


class TokenizerScores(Record):
    """Scores of a tokenizer, as in a row of Table 6 of Deshpande et al. 2023."""

    kind: str
    """bpe, wordpiece or unigram."""
    size: int | None = Field(ge=1)
    """Requested vocabulary size; None for the pre-trained reference of the kind."""
    split_ratio: float = Field(ge=0, allow_inf_nan=False)
    """Tokens per word."""
    matching_score: float = Field(ge=0, le=1)
    """Exact sub-token matching score, between 0 and 1."""
    tokens: int | None = Field(None, ge=0)
    """Actual vocabulary size, which is smaller than requested for a small text; None if unknown."""


@dataclass(frozen=True)
class TokenizerChoice:
    """Result of `choose`."""

    by_kind: tuple[TokenizerScores, ...]
    """Scores of the best size of each kind, in the order of the kinds in `rows`."""
    best: TokenizerScores
    """Row of `by_kind` with the highest matching score."""


def choose(rows: Sequence[TokenizerScores]) -> TokenizerChoice:
    """Return the best size of each kind, and the best tokenizer of all kinds (Deshpande et al. 2023, section 3.3).

    For each kind, the best size has the word-split ratio closest to that of the kind's reference. If two sizes are
    equally close, the smaller size is best. The best tokenizer of all kinds has the highest matching score. If scores
    are equal, the first in `rows` is best.

    Args:
        rows: scores of the tokenizers and references of all kinds.

    Raises:
        BitcipherError: if there is no tokenizer, or a kind has several sizes and no reference.
    """
    candidates = [row for row in rows if row.size is not None]
    if not candidates:
        raise BitcipherError("There is no tokenizer to choose; give at least one kind and one size.")
    references = {row.kind: row for row in rows if row.size is None}
    kinds = dict.fromkeys(row.kind for row in candidates)
    sizes = {kind: [row for row in candidates if row.kind == kind] for kind in kinds}
    check_references({kind: len(of_kind) for kind, of_kind in sizes.items()}, references)
    by_kind = tuple(_nearest(of_kind, references.get(kind)) for kind, of_kind in sizes.items())
    return TokenizerChoice(by_kind, max(by_kind, key=lambda row: row.matching_score))


def _nearest(rows: list[TokenizerScores], reference: TokenizerScores | None) -> TokenizerScores:
    if reference is None:
        (only,) = rows
        return only
    return min(rows, key=lambda row: (abs(row.split_ratio - reference.split_ratio), row.size))


def check_references(sizes: Mapping[str, int], references: Mapping[str, object]) -> None:
    """Check that `choose` can choose among sizes. Call it before any training.

    Args:
        sizes: number of candidate sizes of each kind.
        references: references by kind; only the kinds matter.

    Raises:
        BitcipherError: if a kind has several sizes and no reference, or a reference's kind has no sizes.
    """
    for kind, number in sizes.items():
        if number > 1 and kind not in references:
            raise BitcipherError(
                f"Choosing among {number} sizes of {kind} tokenizers needs a reference tokenizer; give "
                f"--reference {kind}=tokenizer.json, or a single --size."
            )
    for kind in references:
        if kind not in sizes:
            raise BitcipherError(
                f"There is a reference of kind {kind!r}, but the candidates are of kind {', '.join(sizes)}; add "
                f"--kind {kind}, or leave the reference out."
            )

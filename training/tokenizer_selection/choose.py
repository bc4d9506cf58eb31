"""Selection rule of Deshpande et al. (2023), section 3.3: per kind the size closest to the reference, then the best."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from bitcipher.errors import BitcipherError


@dataclass(frozen=True)
class TokenizerScores:
    """Scores of a tokenizer: a row of Table 6."""

    kind: str
    """bpe, wordpiece or unigram."""
    size: int | None
    """Requested vocabulary size; None for the pre-trained reference of the kind."""
    split_ratio: float
    """Tokens per word."""
    matching_score: float
    """Exact sub-token matching score, between 0 and 1."""
    tokens: int | None = None
    """Actual vocabulary size, which is smaller than requested for a small text; None if unknown."""


@dataclass(frozen=True)
class TokenizerChoice:
    """Tokenizer chosen by the rule."""

    by_kind: tuple[TokenizerScores, ...]
    """Best size of each kind, in the order of kinds."""
    chosen: TokenizerScores
    """The chosen one of `by_kind`."""


def choose(rows: Sequence[TokenizerScores]) -> TokenizerChoice:
    """Choose among tokenizers (Deshpande et al. 2023, section 3.3).

    For each kind, the rule takes the size whose word-split ratio is closest to that of the kind's reference, and the
    smaller of two equally close sizes. Among these it takes the highest matching score, and the first in `rows` of
    equal scores.

    Args:
        rows: tokenizers and references of all kinds.

    Raises:
        BitcipherError: if there is no tokenizer, or a kind has several sizes and no reference.
    """
    candidates = [row for row in rows if row.size is not None]
    if not candidates:
        raise BitcipherError("There is no tokenizer to choose: name at least one kind and one size.")
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
    """Check, before any training, that the rule can choose among sizes.

    Args:
        sizes: number of candidate sizes of each kind.
        references: references by kind; only the kinds matter.

    Raises:
        BitcipherError: if a kind has several sizes and no reference, or a reference's kind has no sizes.
    """
    for kind, number in sizes.items():
        if number > 1 and kind not in references:
            raise BitcipherError(
                f"The size of a {kind} tokenizer is chosen by a reference tokenizer, and there is none: give one by "
                f"--reference {kind}=tokenizer.json, or one --size only."
            )
    for kind in references:
        if kind not in sizes:
            raise BitcipherError(
                f"A reference of kind {kind!r} is given, and tokenizers to choose among are {', '.join(sizes)}: add "
                f"--kind {kind}, or leave the reference out."
            )

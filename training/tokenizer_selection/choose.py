"""The paper's rule: of each kind the size that splits words as its reference does, of these the best at morphemes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from bitcipher.errors import BitcipherError


@dataclass(frozen=True)
class TokenizerScores:
    """What was measured of a tokenizer: a row of Table 6."""

    kind: str
    """bpe, wordpiece or unigram."""
    size: int | None
    """Tokens asked for; None for the pre-trained reference of the kind."""
    split_ratio: float
    """Tokens a word."""
    matching_score: float
    """Exact sub-token matching score, 0 to 1."""
    tokens: int | None = None
    """How many it has: fewer than asked for if the text is small. None if that is not known."""


@dataclass(frozen=True)
class TokenizerChoice:
    """What the rule says."""

    by_kind: tuple[TokenizerScores, ...]
    """The one size of each kind, in the order of kinds."""
    chosen: TokenizerScores
    """One of them."""


def choose(rows: Sequence[TokenizerScores]) -> TokenizerChoice:
    """Choose among tokenizers (section 3.3).

    Of each kind it takes the size whose word-split ratio is nearest to that of the kind's reference, and the smaller
    one of two that are equally near; then the kind with the highest score, and of equal ones the first in `rows`.

    Args:
        rows: tokenizers and references of all kinds.

    Raises:
        BitcipherError: if there is no tokenizer, or a kind has several sizes and no reference to choose by.
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
    """Refuse what leaves the rule nothing to go by, before anything is trained.

    Args:
        sizes: how many there are, by kind.
        references: anything, by kind.

    Raises:
        BitcipherError: if a kind has several sizes and no reference, or a reference no kind.
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

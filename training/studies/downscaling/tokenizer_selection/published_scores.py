"""Scores and candidate sizes of the tokenizers in Table 6 of Deshpande et al. 2023."""

from collections.abc import Sequence

from training.data.tokenizer_options import TokenizerOptions
from training.studies.downscaling.scaling.published import published
from training.studies.downscaling.tokenizer_selection.selection_rule import TokenizerScores

# Kind of each name in Table 6. BPE is byte-level, as in GPT-2 and RoBERTa; SentencePiece is Unigram, as in T5.
KINDS = {"BPE": "bpe", "WordPiece": "wordpiece", "SentencePiece": "unigram"}


def published_rows() -> tuple[TokenizerScores, ...]:
    """Return the scores of Table 6."""
    return tuple(
        TokenizerScores(
            kind=KINDS[row.kind],
            size=row.vocabulary,
            split_ratio=row.split_ratio,
            matching_score=row.matching_score,
        )
        for row in published().tokenizers
    )


def candidate_sizes(kinds: Sequence[str] = (), sizes: Sequence[int] = ()) -> dict[str, tuple[int, ...]]:
    """Return the candidate sizes of each kind; by default all three kinds, and the sizes of Table 6.

    Returns:
        Distinct sizes of each kind, ascending.

    Raises:
        BitcipherError: if a kind is unknown, or a size is below 1.
    """
    published_sizes = {
        kind: tuple(row.size for row in published_rows() if row.kind == kind and row.size) for kind in KINDS.values()
    }
    for kind in kinds or published_sizes:
        for size in sizes or [1]:
            TokenizerOptions(kind=kind, vocab_size=size)
    return {kind: tuple(sorted(set(sizes))) or published_sizes[kind] for kind in kinds or published_sizes}

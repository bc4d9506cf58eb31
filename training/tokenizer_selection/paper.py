"""The paper's own comparison of tokenizers, in the form of ours."""

from collections.abc import Sequence

from training.data import TokenizerOptions
from training.scaling import published
from training.tokenizer_selection.choose import TokenizerScores

# What the paper calls BPE is byte-level, as GPT-2 and RoBERTa have it; its SentencePiece is T5's, of kind unigram.
KINDS = {"BPE": "bpe", "WordPiece": "wordpiece", "SentencePiece": "unigram"}


def paper_rows() -> tuple[TokenizerScores, ...]:
    """The rows of Table 6, to be put beside one's own."""
    return tuple(
        TokenizerScores(KINDS[row.kind], row.vocabulary, row.split_ratio, row.matching_score)
        for row in published().tokenizers
    )


def candidate_sizes(kinds: Sequence[str] = (), sizes: Sequence[int] = ()) -> dict[str, tuple[int, ...]]:
    """What to choose among: each size of each kind; without kinds all three, without sizes those of Table 6.

    Returns:
        By kind its sizes in rising order, each once.

    Raises:
        BitcipherError: if there is no such kind, or a size is below 1.
    """
    of_paper = {
        kind: tuple(row.size for row in paper_rows() if row.kind == kind and row.size) for kind in KINDS.values()
    }
    for kind in kinds or of_paper:
        for size in sizes or [1]:
            TokenizerOptions(kind=kind, vocab_size=size)
    return {kind: tuple(sorted(set(sizes))) or of_paper[kind] for kind in kinds or of_paper}

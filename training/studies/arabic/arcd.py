"""AraBERT's comparison on ARCD (Antoun et al. 2020): words with and without segmentation, and a multilingual model."""

from collections.abc import Sequence

from training.comparison.model_comparison import ComparedModel, ModelComparison
from training.comparison.score_table import score_table

METRICS = ("exact_match", "f1", "sentence_match")
MULTILINGUAL = "multilingual"
MODELS = {
    MULTILINGUAL: ComparedModel("masked-multilingual"),
    "unsegmented": ComparedModel("masked-arabic", untrained="unsegmented, random weights"),
    "segmented": ComparedModel("masked-arabic-segmented", untrained="segmented, random weights"),
    "unsegmented, cipher": ComparedModel("masked-arabic", ["embeddings.init=cipher"]),
    "segmented, cipher": ComparedModel("masked-arabic-segmented", ["embeddings.init=cipher"]),
}
# Exact match, F1 and sentence match of mBERT, AraBERT v0.1 and AraBERT v1, with 12 layers of width 768.
PUBLISHED = {
    MULTILINGUAL: "34.2 / 61.3 / 90.0",
    "unsegmented": "30.1 / 61.2 / 93.0",
    "segmented": "30.6 / 62.7 / 92.0",
}


def reproduce_arcd(comparison: ModelComparison, sources: Sequence[str], other: Sequence[str]) -> str:
    """Pre-train models of Arabic and a multilingual one with equal steps, fine-tune them on ARCD, and compare them.

    Args:
        comparison: options of all runs; its task is arcd.
        sources: sources of Arabic text for pre-training.
        other: sources of text in other languages, which the multilingual model reads, too.

    Returns:
        The table of scores, in Markdown.

    Raises:
        BitcipherError: if a source or the data is missing or damaged, or the directory has runs with other options.
    """
    text = {name: [*sources, *(other if name == MULTILINGUAL else ())] for name in MODELS}
    scores = comparison.train(MODELS, text).scores
    paper = ("paper, exact match / F1 / sentence match", PUBLISHED)
    return comparison.write_scores(score_table("words", scores, METRICS, paper))

"""Table 1 of He et al. (2021), *DeBERTaV3*: three ways to share embeddings in replaced-token detection."""

from collections.abc import Sequence

from training.comparison.model_comparison import ComparedModel, ModelComparison

MODELS = {
    "es": ComparedModel("replaced-tokens", ["model.embedding_sharing=es"]),
    "nes": ComparedModel("replaced-tokens", ["model.embedding_sharing=nes"]),
    # The random weights of a seed are the same for all ways.
    "gdes": ComparedModel("replaced-tokens", ["model.embedding_sharing=gdes"], untrained="random weights"),
}
# F1 and exact match on SQuAD 2.0 in the paper, with 12 layers of width 768.
PUBLISHED = {"es": "86.3 / 83.5", "nes": "85.3 / 82.7", "gdes": "87.2 / 84.5"}


def reproduce_embedding_sharing(comparison: ModelComparison, sources: Sequence[str]) -> str:
    """Pre-train with each way to share embeddings, fine-tune the discriminators, and compare their scores.

    Args:
        comparison: options of all runs.
        sources: sources of the text for pre-training.

    Returns:
        The tables of scores and of the generators' perplexities, in Markdown.

    Raises:
        BitcipherError: if a source or the data is missing or damaged, or the directory has runs with other options.
    """
    return comparison.report("embeddings", MODELS, sources, PUBLISHED)

"""Comparison of BERT, RoBERTa, ELECTRA, DeBERTa and DeBERTaV3 of equal size, and of static with dynamic masks.

The source is Ali (2023), *Unsupervised Training of Language Representations*, section 3.6, which has F1 and exact
match of published models, and compares masks in Table 4.
"""

from collections.abc import Sequence

from training.comparison.model_comparison import ComparedModel, ModelComparison

MODELS = {
    "BERT": ComparedModel("bert", untrained="BERT, random weights"),
    "BERT, dynamic masks": ComparedModel("bert", ["objective.static_masks=null"]),
    "RoBERTa": ComparedModel("roberta"),
    "ELECTRA": ComparedModel("electra"),
    "DeBERTa": ComparedModel("deberta", untrained="DeBERTa, random weights"),
    "DeBERTaV3": ComparedModel("deberta-v3"),
}
# F1 and exact match on SQuAD 2.0 as the source prints them: F1 of a BERT with 12 layers of width 768 and dynamic masks
# (with static ones: 78.3), and models with 24 layers of width 1,024.
PUBLISHED = {"BERT, dynamic masks": "78.7 / –", "BERT": "81.8 / 79", "ELECTRA": "– / 88.1", "DeBERTa": "91.5 / 89.0"}


def reproduce_encoders(comparison: ModelComparison, sources: Sequence[str]) -> str:
    """Pre-train encoders of equal size for equal steps, fine-tune them on a task, and compare their scores.

    Args:
        comparison: options of all runs.
        sources: sources of the text for pre-training.

    Returns:
        The tables of scores and of perplexities, in Markdown; those of ELECTRA and DeBERTaV3 are of their generators.

    Raises:
        BitcipherError: if a source or the data is missing or damaged, or the directory has runs with other options.
    """
    return comparison.report("model", MODELS, sources, PUBLISHED)

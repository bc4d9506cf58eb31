"""Scores of a model on pairs of texts. This module does not import torch."""

from importlib.util import find_spec

from bitcipher.errors import BitcipherError
from bitcipher.files.markdown import format_table
from bitcipher.files.records import Count, Record
from bitcipher.installation import install_command

# Files of a run: the scores, and a line of JSON for each source.
SCORES, PREDICTIONS = "pair_scores.json", "predictions.jsonl"

MetricScores = dict[str, float]

_TITLES = {"exact_match": "exact match, %", "bleu": "BLEU", "chrf": "chrF"}


def check_scoring() -> None:
    """Check that the library of the scores is installed.

    Raises:
        BitcipherError: if it is missing.
    """
    if find_spec("sacrebleu") is None:
        raise BitcipherError(
            "Training on pairs of texts needs sacrebleu, which is not installed: run "
            f"`{install_command('translation')}`."
        )


class TextPairScores(Record):
    """Scores of a model and of baselines on test pairs; stored as `pair_scores.json`."""

    pairs: Count
    """Number of pairs."""
    sources: Count
    """Number of distinct sources. The targets of pairs with the same source are all correct."""
    scores: MetricScores
    """`exact_match`, `bleu` and `chrf` of the model, in percent."""
    baselines: dict[str, MetricScores]
    """The same for baselines that use no model."""
    signatures: dict[str, str]
    """sacrebleu's signatures of `bleu` and `chrf`."""
    leaked_pairs: Count | None
    """Number of pairs that are also training pairs; None if the training pairs are not known."""
    leaked_sources: Count | None
    """Number of pairs whose source is that of a training pair; None if the training pairs are not known."""

    def markdown(self) -> str:
        """Return the scores as a table, and a sentence on pairs that are also training pairs if there are any."""
        rows = {"model": self.scores, **self.baselines}
        table = format_table(
            ["target", *_TITLES.values()],
            [[name, *(f"{scores[metric]:.2f}" for metric in _TITLES)] for name, scores in rows.items()],
        )
        if not self.leaked_sources:
            return table
        return table + (
            f"\nOf {self.pairs:,} pairs, {self.leaked_pairs:,} are also training pairs, and {self.leaked_sources:,} "
            "have the source of one.\n"
        )

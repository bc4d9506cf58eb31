"""Metrics of generated texts: exact match, and BLEU and chrF by sacrebleu (Post 2018, Popović 2015)."""

from collections.abc import Sequence
from itertools import zip_longest
from typing import NamedTuple

from sacrebleu.metrics.bleu import BLEU
from sacrebleu.metrics.chrf import CHRF


class GenerationScores(NamedTuple):
    """Metrics of generated texts, and how sacrebleu computed them."""

    scores: dict[str, float]
    """`exact_match`, `bleu` and `chrf`, in percent."""
    signatures: dict[str, str]
    """sacrebleu's signatures of `bleu` and `chrf`, which publications give with the scores."""


def score_texts(generated: Sequence[str], references: Sequence[Sequence[str]]) -> GenerationScores:
    """Return the metrics of generated texts.

    A text matches exactly if it is one of its references, up to white space. BLEU and chrF have sacrebleu's defaults:
    the tokenizer 13a and exponential smoothing, and n-grams of up to 6 characters with a beta of 2.

    Args:
        generated: one text for each of N examples, at least one.
        references: one or more correct texts for each example.
    """
    matches = [
        _normalize(text) in map(_normalize, correct) for text, correct in zip(generated, references, strict=True)
    ]
    # sacrebleu takes the first references of all examples, then the second ones, and None for missing ones.
    streams = [list(stream) for stream in zip_longest(*references)]
    # Tokenized texts are scored as they are, without a warning.
    metrics = {"bleu": BLEU(force=True), "chrf": CHRF()}
    scores = {name: float(metric.corpus_score(generated, streams).score) for name, metric in metrics.items()}
    return GenerationScores(
        {"exact_match": 100 * sum(matches) / len(matches), **scores},
        {name: str(metric.get_signature()) for name, metric in metrics.items()},
    )


def _normalize(text: str) -> str:
    return " ".join(text.split())

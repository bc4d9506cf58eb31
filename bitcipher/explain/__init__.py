"""Exact contributions of context words to vectors and similarities. See the README."""

from bitcipher.explain.contributions import Contribution, DimensionShare, Explanation, NgramContribution
from bitcipher.explain.explainer import Explainer, explain

__all__ = ["Contribution", "DimensionShare", "Explainer", "Explanation", "NgramContribution", "explain"]

"""Why a vector is where it is: context words and what each adds, exactly. See the README."""

from bitcipher.explain.contributions import Contribution, DimensionShare, Explanation
from bitcipher.explain.explainer import Explainer, explain

__all__ = ["Contribution", "DimensionShare", "Explainer", "Explanation", "explain"]

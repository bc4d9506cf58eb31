"""VICReg's loss: variance, invariance and covariance of projections of two views (Bardes et al. 2022, section 4)."""

from typing import TYPE_CHECKING

from pydantic import Field

from bitcipher.files.records import Float
from training.objectives.sentence_views import SentenceViews

if TYPE_CHECKING:
    from torch import Tensor

# Standard deviation that each dimension should have at least, and the number that keeps its gradient finite.
_TARGET_DEVIATION = 1.0
_EPSILON = 1e-4


class VICReg(SentenceViews):
    """Make the projections of both views equal, keep the variance of each dimension, and decorrelate dimensions.

    The invariance is the mean squared difference over sentences and dimensions, as in the authors' code. The paper
    prints the mean squared distance, without the division by the number of dimensions.
    """

    invariance_weight: Float = Field(25.0, ge=0)
    """Weight λ of the invariance."""
    variance_weight: Float = Field(25.0, ge=0)
    """Weight μ of the variance."""
    covariance_weight: Float = Field(1.0, ge=0)
    """Weight ν of the covariance."""

    def row_losses(self, projections: "Tensor") -> tuple["Tensor", "Tensor"]:
        """Return the weighted squared difference of each sentence, and the weighted terms of both views."""
        first, second = projections.unbind(1)
        invariance = self.invariance_weight * (first - second).square().mean(dim=1)
        regularization = self._regularization(first) + self._regularization(second)
        return invariance, regularization.expand_as(invariance)

    def _regularization(self, projections: "Tensor") -> "Tensor":
        """Return the terms of one view [N, P]; variances are those of a sample, divided by N - 1."""
        n_rows, width = projections.shape
        centered = projections - projections.mean(dim=0)
        covariance = centered.T @ centered / max(1, n_rows - 1)
        variances = covariance.diagonal()
        variance_term = (_TARGET_DEVIATION - (variances + _EPSILON).sqrt()).relu().mean()
        covariance_term = (covariance.square().sum() - variances.square().sum()) / width
        return self.variance_weight * variance_term + self.covariance_weight * covariance_term

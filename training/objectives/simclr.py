"""SimCLR's loss: contrastive training on two views of each sentence (Chen et al. 2020, section 2.1)."""

from typing import TYPE_CHECKING

from pydantic import Field

from bitcipher.files.records import Float
from training.objectives.sentence_views import SentenceViews

if TYPE_CHECKING:
    from torch import Tensor


class SimCLR(SentenceViews):
    """Find the other view of a sentence among all views of a batch: NT-Xent, the normalized cross-entropy.

    With B sentences, each of the 2B views is compared with the 2B - 1 other ones by cosine similarity. The loss of a
    sentence is the mean of the losses of its views.
    """

    temperature: Float = Field(0.1, gt=0)
    """Temperature τ, by which similarities are divided."""

    def row_losses(self, projections: "Tensor") -> tuple["Tensor", "Tensor"]:
        """Return -sim(z, z') / τ, and the logarithm of the sum of exp(sim / τ) over all other views."""
        import torch  # not at the top: this module is imported to check options
        from torch.nn import functional

        first, second = functional.normalize(projections, dim=2).unbind(1)
        views = torch.cat([first, second])
        is_self = torch.eye(len(views), dtype=torch.bool, device=views.device)
        similarities = (views @ views.T / self.temperature).masked_fill(is_self, -torch.inf)
        regularization = similarities.logsumexp(dim=1).unflatten(0, (2, -1)).mean(dim=0)
        return -(first * second).sum(dim=1) / self.temperature, regularization

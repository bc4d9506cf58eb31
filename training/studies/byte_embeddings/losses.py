"""Losses of an alignment (Rodriguez Perez et al. 2023, section III), as means over a batch."""

from torch import Tensor
from torch.nn import functional

from training.studies.byte_embeddings.options import AlignmentOptions

# Losses that do not determine the length of a vector.
ANGULAR = ("cosine", "triplet_angular")


def alignment_loss(options: AlignmentOptions, vectors: Tensor, targets: Tensor, negatives: Tensor) -> Tensor:
    """Return the loss of vectors.

    Args:
        options: name and parameters of the loss.
        vectors: [n, H], from the network.
        targets: [n, H], the vectors of the same tokens in the table.
        negatives: [n, H], vectors of other tokens in the table, for the triplet losses.
    """
    distances = (vectors - targets).norm(dim=1)
    errors = 1 - functional.cosine_similarity(vectors, targets)
    if options.loss == "mse":
        return functional.mse_loss(vectors, targets)
    if options.loss == "cosine":
        return errors.mean()
    if options.loss == "additive_euclidean_cosine":
        return (distances + options.alpha * errors).mean()
    if options.loss == "multiplicative_euclidean_cosine":
        return (options.alpha * distances * errors + distances).mean()
    if options.loss == "triplet_euclidean":
        others = (vectors - negatives).square().sum(dim=1)
        return functional.relu(distances.square() - others + options.margin).mean()
    others = functional.cosine_similarity(vectors, negatives)
    return functional.relu(others - (1 - errors) + options.margin).mean()

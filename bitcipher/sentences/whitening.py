"""`whitening`: the linear map that equalizes the directions of sentence vectors."""

import numpy as np
from threadpoolctl import threadpool_limits


@threadpool_limits.wrap(limits=1)  # BLAS sums depend on the number of threads
def whitening(moments: np.ndarray) -> np.ndarray:
    """Return the inverse square root of a matrix of second moments plus their mean, (d, d) float32.

    Sentence vectors that are multiplied by it have nearly the same length in all directions, so those that all
    sentences share no longer determine the cosines (Su et al. 2021, "Whitening Sentence Representations for Better
    Semantics and Faster Retrieval"). The mean variance is added to the variance of each direction, so directions that
    few sentences have are not enlarged, and few sentences are enough.

    Args:
        moments: (d, d) float64, the sum of the outer products of sentence vectors. At least one is not zero.
    """
    variances, directions = np.linalg.eigh(moments / np.trace(moments))
    scales = 1 / np.sqrt(np.maximum(variances, 0) + 1 / len(moments))
    return ((directions * scales) @ directions.T).astype(np.float32)

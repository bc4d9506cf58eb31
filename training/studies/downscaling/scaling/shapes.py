"""Model shapes of Deshpande et al. (2023), section 4.1, Table 3 and Appendix D, and selection of shapes by FLOPs.

In this module, the paper is Deshpande et al. (2023), and tables are its tables.
"""

from collections.abc import Iterable
from dataclasses import replace
from itertools import product

import numpy as np
from scipy.optimize import linear_sum_assignment

from bitcipher.errors import BitcipherError
from training.studies.downscaling.scaling.shape import VOCABULARY, Shape

# The anchor: the shape that all shapes of set 1 are compared with (section 4.1).
ANCHOR = Shape(256, 256, 1024, 8, 8)

# Candidates of set 2. The paper gives the upper bounds; the lower bounds are the minima of its tables.
_GRID = {
    "embedding": (32, 64, 128, 256),
    "hidden": (32, 64, 128, 256),
    "intermediate": (64, 128, 256, 512, 1024),
    "layers": (1, 2, 4, 8),
    "heads": (1, 2, 4, 8),
}
_SET_2_SIZE = 16

# Set 3, which the paper does not list. Its anchors are smaller than `ANCHOR`, because the paper is about small models.
# Its hidden sizes (5/4 and 3/2 of 32, 64 and 128) and numbers of layers lie between powers of two, so set 3 has no
# shape in common with sets 1 and 2.
_SET_3_ANCHORS = (Shape(128, 128, 512, 4, 4), Shape(64, 64, 256, 4, 4), Shape(32, 32, 128, 4, 4))
_SET_3_HIDDEN = (40, 48, 80, 96, 160, 192)
_SET_3_LAYERS = (3, 5, 6, 7)

_LARGER_ANCHOR = Shape(512, 512, 2048, 8, 8)


def set_1() -> tuple[Shape, ...]:
    """Return `ANCHOR` and the 15 models of Table 3 that differ from it in one size, in the order of the table."""
    return (
        ANCHOR,
        *(replace(ANCHOR, embedding=size) for size in (32, 64, 128)),
        *(replace(ANCHOR, hidden=size) for size in (32, 64, 128)),
        *(replace(ANCHOR, intermediate=size) for size in (128, 256, 512)),
        *(replace(ANCHOR, layers=size) for size in (1, 2, 4)),
        *(replace(ANCHOR, heads=size) for size in (1, 2, 4)),
    )


def set_2(seed: int = 0) -> tuple[Shape, ...]:
    """Return 16 models drawn without replacement from all powers of two within the paper's bounds, except set 1.

    The paper does not list the models of its set 2. A seed gives the same models with every version of NumPy.

    Raises:
        BitcipherError: if the seed is negative.
    """
    if seed < 0:
        raise BitcipherError(f"The seed of set 2 must be at least 0, got {seed}.")
    in_set_1 = set(set_1())
    candidates = [shape for shape in (Shape(*sizes) for sizes in product(*_GRID.values())) if shape not in in_set_1]
    # NumPy guarantees the raw output of a bit generator, but not the results of `Generator.choice`.
    draws = np.random.PCG64(seed).random_raw(len(candidates))
    return tuple(candidates[index] for index in np.argsort(draws)[:_SET_2_SIZE])


def set_3() -> tuple[Shape, ...]:
    """Return 30 models that vary the hidden size or the number of layers around smaller anchors.

    The paper does not list the models of its set 3. Here, three anchors have a half, a quarter and an eighth of the
    embedding, hidden and intermediate sizes of `ANCHOR`, with 4 layers and 4 heads. For each anchor, there are six
    other hidden sizes and four other numbers of layers, all between powers of two.
    """
    return tuple(
        shape
        for anchor in _SET_3_ANCHORS
        for shape in (
            *(replace(anchor, hidden=size) for size in _SET_3_HIDDEN),
            *(replace(anchor, layers=size) for size in _SET_3_LAYERS),
        )
    )


def smallest() -> tuple[Shape, ...]:
    """Return the models of the last three rows of Table 3, in its order.

    According to the paper, they are the smallest models that benefit from pre-training.
    """
    return Shape(32, 32, 128, 2, 2), Shape(32, 32, 128, 1, 1), Shape(32, 32, 64, 1, 1)


def larger() -> tuple[Shape, ...]:
    """Return the seven models of Table 7 (Appendix D) with more than 20 million parameters.

    The first model is their anchor, 512-512-2048-8-8.
    """
    return (
        _LARGER_ANCHOR,
        *(replace(_LARGER_ANCHOR, hidden=size) for size in (256, 768, 1024)),
        *(replace(_LARGER_ANCHOR, layers=size) for size in (1, 2, 4)),
    )


def select_spanning(shapes: Iterable[Shape], count: int, vocabulary: int = VOCABULARY) -> tuple[Shape, ...]:
    """Return shapes that are spread as evenly as possible over the logarithmic range of FLOPs.

    The cheapest and the most expensive shape are always included. The other shapes minimize the total distance from
    logarithmically spaced points.

    Args:
        shapes: candidates; duplicates count once.
        count: number of shapes, at least 2.
        vocabulary: number of tokens, on which FLOPs depend.

    Returns:
        Shapes in increasing order of `flops_published`.

    Raises:
        BitcipherError: if `count` is below 2 or above the number of candidates.
    """
    ordered = sorted(set(shapes), key=lambda shape: (shape.flops_published(vocabulary), shape.name))
    if not 2 <= count <= len(ordered):
        raise BitcipherError(f"`count` must be between 2 and {len(ordered)}, the number of shapes, got {count}.")
    costs = np.log([shape.flops_published(vocabulary) for shape in ordered])
    points = np.linspace(costs[0], costs[-1], count)[1:-1]
    inner, _ = linear_sum_assignment(np.abs(costs[1:-1, None] - points))
    return ordered[0], *(ordered[1 + index] for index in sorted(inner)), ordered[-1]

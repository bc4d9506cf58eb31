"""FLOPs of the matrix products in a transformer, which are nearly all that it computes.

A product of matrices of sizes [m, k] and [k, n] has 2 m k n FLOPs. The lookup of embeddings has none, and softmax,
norms and activations are left out, as in `torch.utils.flop_counter.FlopCounterMode`.
"""

# Cost of a forward and a backward pass, relative to a forward pass (Kaplan et al. 2020, section 2.1): the backward pass
# has two products for each product of the forward pass.
FORWARD_AND_BACKWARD = 3


def linear_flops(rows: float, inputs: int, outputs: int) -> float:
    """Return the FLOPs of a linear layer on a number of rows."""
    return 2 * rows * inputs * outputs


def attention_flops(queries: int, keys: int, hidden: int, inner: int) -> float:
    """Return the FLOPs of attention: four projections, the products of queries and keys, and the weighted sums.

    Causal attention is counted in full, because implementations mask products that they have computed.

    Args:
        queries: number of positions that attend.
        keys: number of positions that are attended to.
        hidden: hidden size.
        inner: number of heads times their size, usually the hidden size.
    """
    return linear_flops(2 * queries + 2 * keys, hidden, inner) + 2 * 2 * queries * keys * inner


def layer_flops(length: int, hidden: int, intermediate: int, inner: int | None = None, gated: bool = False) -> float:
    """Return the FLOPs of self-attention and a feed-forward network of two matrices, or three if it is gated."""
    feed_forward = (3 if gated else 2) * linear_flops(length, hidden, intermediate)
    return attention_flops(length, length, hidden, inner or hidden) + feed_forward

"""Shape of a small ModernBERT (Warner et al. 2024), with its number of parameters and training FLOPs."""

from dataclasses import dataclass

from bitcipher.errors import BitcipherError
from training.models.matrix_flops import FORWARD_AND_BACKWARD, layer_flops, linear_flops
from training.studies.downscaling.scaling.shape import LENGTH, POSITIONS, TOKEN_TYPES, VOCABULARY, Shape


@dataclass(frozen=True)
class ModernBertShape(Shape):
    """The sizes of a ModernBERT, named as those of a RoBERTa. Its embeddings are as wide as its hidden states.

    Raises:
        BitcipherError: if a size is not a positive integer, the embedding and hidden sizes differ, or the hidden size
            is not divisible by twice the heads, because rotary positions turn pairs of numbers.
    """

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.embedding != self.hidden:
            raise BitcipherError(
                f"A ModernBERT has embeddings of its hidden size, {self.hidden}, but {self.name} has {self.embedding}; "
                "choose another shape, or a roberta."
            )
        if self.hidden % (2 * self.heads):
            raise BitcipherError(
                f"A ModernBERT needs heads of an even size, but {self.name} has {self.hidden // self.heads}; choose "
                "another number of heads."
            )

    def parameters(
        self,
        tied: bool = False,
        vocabulary: int = VOCABULARY,
        positions: int = POSITIONS,
        types: int = TOKEN_TYPES,
    ) -> int:
        """Return the number of parameters of the masked language model, whose linear layers have no biases.

        Args:
            tied: whether the head shares the token embeddings.
            vocabulary: number of tokens, including special tokens.
            positions: without effect, because rotary positions have no weights.
            types: without effect, because there are no token types.
        """
        hidden = self.hidden
        attention, feed_forward = 4 * hidden * hidden, 3 * hidden * self.intermediate
        # Each layer has a norm before attention and one before the feed-forward layer. The norm of the embeddings takes
        # the place of the first one, and the last states have a norm, too.
        norms = (2 * self.layers + 1) * hidden
        head = hidden * hidden + hidden + vocabulary
        tables = vocabulary * hidden * (1 if tied else 2)
        return tables + self.layers * (attention + feed_forward) + norms + head

    def flops_published(self, vocabulary: int = VOCABULARY, length: int = LENGTH) -> int:
        """Return the FLOPs of one training sequence, counted as those of a RoBERTa of the same sizes.

        The differences are the gate, a third matrix of each feed-forward layer, and the embeddings without a
        projection.
        """
        gates = 2 * length * self.hidden * self.intermediate * self.layers
        projection = 2 * length * self.embedding * self.hidden
        return super().flops_published(vocabulary, length) + FORWARD_AND_BACKWARD * (gates - projection)

    def flops_spent(self, predictions: float, vocabulary: int = VOCABULARY, length: int = LENGTH) -> float:
        """Return the FLOPs of the matrix products of one training sequence; see `Shape.flops_spent`."""
        layers = self.layers * layer_flops(length, self.hidden, self.intermediate, gated=True)
        head = linear_flops(predictions, self.hidden, self.hidden + vocabulary)
        return FORWARD_AND_BACKWARD * (layers + head)

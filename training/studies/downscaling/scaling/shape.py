"""Shape of a small RoBERTa, with its number of parameters and training FLOPs (Deshpande et al. 2023)."""

import re
from dataclasses import astuple, dataclass, fields
from typing import Self

from bitcipher.errors import BitcipherError
from training.models.matrix_flops import FORWARD_AND_BACKWARD, layer_flops, linear_flops

# Vocabulary size: 19,000 tokens of byte-level BPE (section 3.3) and ten special tokens. Only this number gives all
# printed model sizes.
VOCABULARY = 19_010
# Number of tokens of a training sequence (section 4.2).
LENGTH = 128
# Number of position embeddings. RoBERTa numbers positions from 2, after the padding index.
POSITIONS = LENGTH + 2
# Number of token type embeddings: the default `type_vocab_size` of transformers' RobertaConfig. The models use one.
TOKEN_TYPES = 2
# Number of training sequences: 35,475 updates of 256 sequences. This number times the FLOPs of a sequence gives the
# FLOPs in Tables 3 and 7.
SEQUENCES = 9_081_600

_NAME = re.compile(r"[1-9][0-9]{0,8}(-[1-9][0-9]{0,8}){4}")


@dataclass(frozen=True)
class Shape:
    """The five sizes of a RoBERTa that Deshpande et al. vary, in the order of their tables.

    Raises:
        BitcipherError: if a size is not a positive integer, or the hidden size is not divisible by the heads.
    """

    embedding: int
    """E: embedding size; a linear layer and LayerNorm project it to H."""
    hidden: int
    """H: hidden size of the transformer."""
    intermediate: int
    """I: intermediate size of the feed-forward layers."""
    layers: int
    """L: number of layers."""
    heads: int
    """A: number of attention heads, each of size H / A. It changes FLOPs, but not parameters."""

    def __post_init__(self) -> None:
        _check_sizes({field.name: getattr(self, field.name) for field in fields(self)})
        if self.hidden % self.heads:
            raise BitcipherError(
                f"A hidden size of {self.hidden} is not divisible by {self.heads} heads; "
                "choose a number of heads that divides it."
            )

    @property
    def name(self) -> str:
        """Name of the shape, such as "256-256-1024-8-8"."""
        return "-".join(map(str, astuple(self)))

    @classmethod
    def from_name(cls, name: str) -> Self:
        """Return the shape with a name.

        Raises:
            BitcipherError: if the name is malformed.
        """
        if not _NAME.fullmatch(name):
            raise BitcipherError(
                f"{name!r} is not a shape; give embedding, hidden, intermediate, layers and heads, "
                'such as "256-256-1024-8-8".'
            )
        return cls(*map(int, name.split("-")))

    def parameters(
        self,
        tied: bool = False,
        vocabulary: int = VOCABULARY,
        positions: int = POSITIONS,
        types: int = TOKEN_TYPES,
    ) -> int:
        """Return the number of parameters of the masked language model.

        The number agrees with Tables 3 and 7 to their two decimals.

        Args:
            tied: whether to count the standard RoBERTa, which has no projection from embedding to hidden size, and
                whose head shares the token embeddings. Three rows of Table 3 (I = 128, 256, 512) have this size.
            vocabulary: number of tokens, including special tokens.
            positions: number of position embeddings.
            types: number of token type embeddings.

        Raises:
            BitcipherError: if `tied` is set and the embedding and hidden sizes differ.
        """
        _check_sizes({"vocabulary": vocabulary, "positions": positions, "types": types})
        if tied and self.embedding != self.hidden:
            raise BitcipherError(
                f"The head of {self.name} cannot share the token embeddings, because its embedding size is not "
                f"{self.hidden}, its hidden size."
            )
        embedding, hidden, intermediate = self.embedding, self.hidden, self.intermediate
        norm = 2 * hidden
        tables = (vocabulary + positions + types) * embedding + 2 * embedding
        attention = 4 * (hidden * hidden + hidden) + norm
        feed_forward = (hidden * intermediate + intermediate) + (intermediate * hidden + hidden) + norm
        head = (hidden * hidden + hidden) + norm + vocabulary
        untied = (embedding * hidden + hidden + norm) + hidden * vocabulary
        return tables + self.layers * (attention + feed_forward) + head + (0 if tied else untied)

    def flops_published(self, vocabulary: int = VOCABULARY, length: int = LENGTH) -> int:
        """Return the FLOPs of one training sequence, forward and backward, as in the tables of Deshpande et al.

        `SEQUENCES` times this number equals the FLOPs of Table 7, and of Table 3 except for the rows that the README
        lists. Compared with Appendix A, each layer lacks the sum over values (2 S² H) and the output projection of
        attention (2 S H²), so `flops_hoffmann` is larger by 6 L S H (S + H): 5 % for the shape 256-256-1024-8-8. Tied
        models have the same FLOPs.

        Args:
            vocabulary: number of tokens in the vocabulary.
            length: S, the number of tokens per sequence.
        """
        _check_sizes({"vocabulary": vocabulary, "length": length})
        embedding, hidden = self.embedding, self.hidden
        tables = 2 * length * (vocabulary * embedding + embedding * hidden)
        queries_keys_values = 6 * length * hidden * hidden
        products = 2 * length * length * hidden
        softmax = 3 * self.heads * length * length
        feed_forward = 4 * length * hidden * self.intermediate
        head = 2 * length * hidden * vocabulary
        layer = queries_keys_values + products + softmax + feed_forward
        return FORWARD_AND_BACKWARD * (tables + self.layers * layer + head)

    def flops_hoffmann(self, vocabulary: int = VOCABULARY, length: int = LENGTH) -> int:
        """Return the FLOPs of one training sequence, forward and backward, by Appendix A (after Hoffmann et al. 2022).

        All steps of attention are counted. For the whole training of the shape 256-256-1024-8-8, this formula gives
        116.0 × 10¹⁵ FLOPs, whereas Table 3 has 110 × 10¹⁵. One misprint of the appendix is corrected: its feed-forward
        layer, 2 (HI + IH), lacks the factor S, which Hoffmann et al. have (the printed formula gives 86.9 × 10¹⁵).

        Args:
            vocabulary: number of tokens in the vocabulary.
            length: S, the number of tokens per sequence.
        """
        values = 2 * length * length * self.hidden
        last_linear = 2 * length * self.hidden * self.hidden
        omitted = FORWARD_AND_BACKWARD * self.layers * (values + last_linear)
        return self.flops_published(vocabulary, length) + omitted

    def flops_spent(self, predictions: float, vocabulary: int = VOCABULARY, length: int = LENGTH) -> float:
        """Return the FLOPs of the matrix products of one training sequence, forward and backward.

        In contrast to both formulas above, the lookup of embeddings costs nothing, and the head computes logits only
        for the masked tokens. For the shape 256-256-1024-8-8 and 15 % masked tokens, this is half of `flops_published`.

        Args:
            predictions: mean number of masked tokens per sequence.
            vocabulary: number of tokens in the vocabulary.
            length: S, the number of tokens per sequence.
        """
        _check_sizes({"vocabulary": vocabulary, "length": length})
        projection = linear_flops(length, self.embedding, self.hidden)
        layers = self.layers * layer_flops(length, self.hidden, self.intermediate)
        head = linear_flops(predictions, self.hidden, self.hidden + vocabulary)
        return FORWARD_AND_BACKWARD * (projection + layers + head)


def _check_sizes(sizes: dict[str, int]) -> None:
    for name, size in sizes.items():
        if type(size) is not int or size < 1:
            raise BitcipherError(f"The size `{name}` must be an integer of at least 1, got {size!r}.")

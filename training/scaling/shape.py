"""The shape of a small RoBERTa, and what it costs: parameters, and FLOPs of training (SPEC section 7)."""

import re
from dataclasses import astuple, dataclass, fields
from typing import Self

from bitcipher.errors import BitcipherError

# 19,000 tokens of byte-level BPE (section 3.3) and ten special ones: the only number that gives all printed sizes.
VOCABULARY = 19_010
# Tokens of a training sequence (section 4.2).
LENGTH = 128
# RoBERTa numbers positions from 2, after that of padding.
POSITIONS = LENGTH + 2
# What RobertaConfig has where nothing else is said, though only one type is ever used.
TOKEN_TYPES = 2
# What a model was trained on: 35,475 updates of 256. FLOPs of Tables 3 and 7 are this many times a sequence's.
SEQUENCES = 9_081_600
# A backward pass costs twice the forward pass (Appendix A).
FORWARD_AND_BACKWARD = 3

_NAME = re.compile(r"[1-9][0-9]{0,8}(-[1-9][0-9]{0,8}){4}")


@dataclass(frozen=True)
class Shape:
    """The sizes that the paper varies, in the order in which its tables name them: (E, H, I, L, A).

    Raises:
        BitcipherError: if a size is no whole number above 0, or the heads do not divide the hidden size.
    """

    embedding: int
    """E: width of the table of tokens; a linear layer and LayerNorm make it H wide."""
    hidden: int
    """H: width of the transformer's layers."""
    intermediate: int
    """I: inner width of the feed-forward layers."""
    layers: int
    """L."""
    heads: int
    """A: attention heads, each H / A wide. They change FLOPs, but not parameters."""

    def __post_init__(self) -> None:
        _check_sizes({field.name: getattr(self, field.name) for field in fields(self)})
        if self.hidden % self.heads:
            raise BitcipherError(
                f"A hidden size of {self.hidden} cannot be shared out to {self.heads} heads: "
                "choose a number that divides it."
            )

    @property
    def name(self) -> str:
        """Such as "256-256-1024-8-8"."""
        return "-".join(map(str, astuple(self)))

    @classmethod
    def from_name(cls, name: str) -> Self:
        """The shape of a name.

        Raises:
            BitcipherError: if it is not the name of one.
        """
        if not _NAME.fullmatch(name):
            raise BitcipherError(
                f"{name!r} is not a shape: give embedding, hidden, intermediate, layers and heads, "
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
        """How many numbers the masked language model learns (SPEC section 7; Tables 3 and 7 to their two decimals).

        Args:
            tied: the plain RoBERTa, whose head uses the table of tokens and which has no layer after it. Three rows of
                Table 3 (I = 128, 256, 512) are printed with the size of this one.
            vocabulary: tokens, special ones included.
            positions: rows of the table of positions.
            types: rows of the table of token types.

        Raises:
            BitcipherError: if it is to be tied though embedding and hidden size differ.
        """
        _check_sizes({"vocabulary": vocabulary, "positions": positions, "types": types})
        if tied and self.embedding != self.hidden:
            raise BitcipherError(
                f"The head of {self.name} cannot share the table of tokens: its embedding size would have to be "
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
        """FLOPs of one training sequence, forward and backward, as the paper's tables have them (SPEC section 7).

        `SEQUENCES` times this are the FLOPs of Table 7, and of Table 3 but for what the README tells. Of Appendix A it
        leaves out, in each layer, the sum over values (2 S² H) and attention's last linear layer (2 S H²), so that
        `flops_hoffmann` is 6 L S H (S + H) more: 5 % for the anchor. Tied models are charged the same.

        Args:
            vocabulary: V, tokens.
            length: S, tokens of a sequence.
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
        """FLOPs of one training sequence, forward and backward, as Appendix A prints them (after Hoffmann et al. 2022).

        All of attention is counted. The paper's tables were not made with it: for the anchor it gives 116.0 × 10¹⁵
        where Table 3 has 110. One slip of the appendix is mended: its feed-forward layer, 2 (HI + IH), lacks the
        length S that Hoffmann et al. have there (taken at its word, the print gives 86.9 × 10¹⁵).

        Args:
            vocabulary: V, tokens.
            length: S, tokens of a sequence.
        """
        values = 2 * length * length * self.hidden
        last_linear = 2 * length * self.hidden * self.hidden
        left_out = FORWARD_AND_BACKWARD * self.layers * (values + last_linear)
        return self.flops_published(vocabulary, length) + left_out


def _check_sizes(sizes: dict[str, int]) -> None:
    for name, size in sizes.items():
        if type(size) is not int or size < 1:
            raise BitcipherError(f"The size `{name}` must be a whole number of at least 1, not {size!r}.")

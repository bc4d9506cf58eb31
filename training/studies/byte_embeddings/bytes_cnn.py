"""BytesCNN: convolutions over the bytes of a token, and highway layers (Kim et al. 2016; El Boukkouri et al. 2020)."""

from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.nn import functional

from training.studies.byte_embeddings.byte_ids import ID_COUNT, PADDING, to_byte_ids
from training.studies.byte_embeddings.options import FILTERS

BYTE_WIDTH = 16
HIGHWAY_LAYERS = 2
# Tokens whose vectors are computed at a time.
_BATCH = 1024


class Highway(nn.Module):
    """A layer that mixes its input with a nonlinear transform of it (Srivastava et al. 2015)."""

    def __init__(self, width: int) -> None:
        """Create a layer that carries most of its input at first."""
        super().__init__()
        self.linear = nn.Linear(width, 2 * width)
        with torch.no_grad():
            self.linear.bias[width:].fill_(1)

    def forward(self, inputs: Tensor) -> Tensor:
        """Return the outputs [n, width] for inputs [n, width]."""
        transformed, gate = self.linear(inputs).chunk(2, dim=1)
        carried = torch.sigmoid(gate)
        return carried * inputs + (1 - carried) * torch.relu(transformed)


class BytesCNN(nn.Module):
    """Network from the bytes of a token to its vector.

    Args:
        size: "small" or "big".
        vector_size: width H of the vectors.
    """

    def __init__(self, size: str, vector_size: int) -> None:
        """Create a network with random weights."""
        super().__init__()
        filters = FILTERS[size]
        width = sum(count for _, count in filters)
        self.bytes = nn.Embedding(ID_COUNT, BYTE_WIDTH, padding_idx=PADDING)
        self.convolutions = nn.ModuleList(nn.Conv1d(BYTE_WIDTH, count, kernel) for kernel, count in filters)
        self.highways = nn.Sequential(*(Highway(width) for _ in range(HIGHWAY_LAYERS)))
        self.projection = nn.Linear(width, vector_size)
        self._padding = max(kernel for kernel, _ in filters)

    def forward(self, byte_ids: Tensor) -> Tensor:
        """Return the vectors [n, H] for byte ids [n, L].

        Each row is followed by as much padding as the widest convolution has positions. So the vector of a token does
        not depend on the other tokens of a batch.
        """
        inputs = self.bytes(functional.pad(byte_ids, (0, self._padding), value=PADDING)).transpose(1, 2)
        features = [torch.relu(convolution(inputs).amax(dim=2)) for convolution in self.convolutions]
        return self.projection(self.highways(torch.cat(features, dim=1)))

    @torch.no_grad()
    def embed(self, tokens: Sequence[str]) -> Tensor:
        """Return the vectors [n, H] of tokens, which may be any strings."""
        ids = torch.from_numpy(to_byte_ids(tokens))
        parts = [self(part) for part in ids.split(_BATCH)]
        return torch.cat(parts) if parts else torch.empty(0, self.projection.out_features)

"""Training of a BytesCNN to give the vectors of an embedding table."""

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from tokenizers import Tokenizer
from torch import Tensor

from bitcipher.errors import BitcipherError
from training.loop.distributed import choose_device
from training.studies.byte_embeddings.byte_ids import to_byte_ids
from training.studies.byte_embeddings.bytes_cnn import BytesCNN
from training.studies.byte_embeddings.losses import ANGULAR, alignment_loss
from training.studies.byte_embeddings.options import AlignmentOptions

# Tokens that BERT's vocabulary reserves for later, which no text has.
_UNUSED = re.compile(r"\[unused\d+\]")


@dataclass(frozen=True)
class ByteEmbeddings:
    """A trained network, and the length of its vectors."""

    network: BytesCNN
    options: AlignmentOptions
    length: float | None
    """Length to which vectors are scaled: the mean of the table's, after training with an angular loss."""

    def embed(self, tokens: Sequence[str]) -> Tensor:
        """Return the vectors [n, H] float32 of tokens, which may be any strings."""
        return self._scale(self.network.embed(tokens))

    def embed_with_gradients(self, tokens: Sequence[str]) -> Tensor:
        """Return the vectors [n, H] of at least one token, to train the network."""
        return self._scale(self.network(torch.from_numpy(to_byte_ids(tokens))))

    def _scale(self, vectors: Tensor) -> Tensor:
        return vectors if self.length is None else torch.nn.functional.normalize(vectors, dim=1) * self.length


def aligned_tokens(tokenizer: Tokenizer) -> dict[str, int]:
    """Return the ids of the tokens to align by token, in the order of ids: all but BERT's unused ones."""
    found = sorted(tokenizer.get_vocab().items(), key=lambda item: item[1])
    return {token: token_id for token, token_id in found if not _UNUSED.fullmatch(token)}


def align(
    table: Tensor,
    tokens: Sequence[str],
    options: AlignmentOptions,
    advance: Callable[[float], None] = lambda loss: None,
) -> ByteEmbeddings:
    """Train a network to give the rows of an embedding table from the bytes of their tokens.

    On a CPU, the result depends on the arguments and the number of threads of torch only. On a GPU, runs differ by
    rounding. The trained network is on the CPU in both cases.

    Args:
        table: [n, H] float32, a row per token.
        tokens: the n tokens.
        options: size, loss and optimizer.
        advance: called with the mean loss of each epoch.

    Raises:
        BitcipherError: if there are fewer than two tokens, there is no GPU although `device` requests one, or the loss
            is no longer finite.
    """
    if len(tokens) < 2:
        raise BitcipherError(f"The vocabulary has {len(tokens)} tokens to align; it needs at least 2.")
    device = choose_device(options.device, "device")
    targets, ids = table.detach().float().to(device), torch.from_numpy(to_byte_ids(tokens)).to(device)
    generator = torch.Generator().manual_seed(options.seed)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(options.seed)
        network = BytesCNN(options.size, targets.shape[1]).to(device)
    # Without `fused`, an update of 70 million weights takes as long as the gradients of 100 tokens.
    optimizer = torch.optim.Adam(network.parameters(), lr=options.learning_rate, fused=True)
    schedule = torch.optim.lr_scheduler.ReduceLROnPlateau(
        optimizer, factor=options.plateau_factor, patience=options.plateau_patience
    )
    for _ in range(options.epochs):
        total = 0.0
        order = torch.randperm(len(tokens), generator=generator).to(device)
        shifts = torch.randint(1, len(tokens), (len(tokens),), generator=generator).to(device)
        for batch in order.split(options.batch_size):
            others = (batch + shifts[batch]) % len(tokens)
            loss = alignment_loss(options, network(ids[batch]), targets[batch], targets[others])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += float(loss.detach()) * len(batch)
        mean = total / len(tokens)
        if not math.isfinite(mean):
            raise BitcipherError("The loss of the alignment is no longer finite; lower `learning_rate`.")
        schedule.step(mean)
        advance(mean)
    network.cpu().eval()
    length = float(targets.norm(dim=1).mean()) if options.loss in ANGULAR else None
    return ByteEmbeddings(network, options, length)

"""What a training run takes of text: a tokenizer and token shards, and cipher vectors of the tokenizer's tokens.

Both are made once for all runs that need the same, in folders named after what they depend on.
"""

from training.prepare.text import prepare_text
from training.prepare.vectors import prepare_vectors

__all__ = ["prepare_text", "prepare_vectors"]

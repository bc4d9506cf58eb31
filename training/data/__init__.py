"""Text for language models: tokenizers, documents as token shards, and which sequence comes when; see README.md."""

from training.data.sequence_order import Order
from training.data.special_tokens import SpecialTokens, special_tokens
from training.data.token_shards import PartNote, ShardNote, finish_text, is_validation, write_shard
from training.data.token_streams import Sequences, TokenStream, TokenText
from training.data.tokenizer_files import load_tokenizer, save_tokenizer, text_only, vocabulary_size
from training.data.tokenizer_options import TokenizerOptions
from training.data.train_tokenizer import train_tokenizer

__all__ = [
    "Order",
    "PartNote",
    "Sequences",
    "ShardNote",
    "SpecialTokens",
    "TokenStream",
    "TokenText",
    "TokenizerOptions",
    "finish_text",
    "is_validation",
    "load_tokenizer",
    "save_tokenizer",
    "special_tokens",
    "text_only",
    "train_tokenizer",
    "vocabulary_size",
    "write_shard",
]

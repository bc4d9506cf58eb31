"""Text for language models: tokenizers, documents as token shards, and which sequence comes when; see README.md."""

from training.text.order import Order
from training.text.shards import PartNote, ShardNote, finish_text, is_validation, write_shard
from training.text.special_tokens import SpecialTokens, special_tokens
from training.text.streams import Sequences, TokenStream, TokenText
from training.text.tokenizer_files import load_tokenizer, save_tokenizer, text_only, vocabulary_size
from training.text.tokenizer_options import TokenizerOptions
from training.text.train_tokenizer import train_tokenizer

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

"""Text for language models: tokenizers, token shards, and the order of the sequences."""

from training.data.held_out import HELD_OUT, read_held_out, write_held_out
from training.data.length_grouped_order import LengthGroupedOrder
from training.data.sequence_order import SequenceOrder
from training.data.special_tokens import SpecialTokens, special_tokens
from training.data.token_shards import (
    DatasetMetadata,
    ShardInfo,
    SplitInfo,
    finish_dataset,
    is_validation,
    part_name,
    source_of_shard,
    split_parts,
    write_shard,
)
from training.data.token_streams import Sequences, TokenDataset, TokenStream
from training.data.tokenizer_files import load_tokenizer, plain_text_tokenizer, save_tokenizer, vocab_size
from training.data.tokenizer_options import TokenizerOptions
from training.data.train_tokenizer import sample_documents, train_tokenizer
from training.data.transformers_tokenizer import InputFormat, tokenizer_files
from training.data.word_segmentation import word_segmentation

__all__ = [
    "HELD_OUT",
    "DatasetMetadata",
    "InputFormat",
    "LengthGroupedOrder",
    "SequenceOrder",
    "Sequences",
    "ShardInfo",
    "SpecialTokens",
    "SplitInfo",
    "TokenDataset",
    "TokenStream",
    "TokenizerOptions",
    "finish_dataset",
    "is_validation",
    "load_tokenizer",
    "part_name",
    "plain_text_tokenizer",
    "read_held_out",
    "sample_documents",
    "save_tokenizer",
    "source_of_shard",
    "special_tokens",
    "split_parts",
    "tokenizer_files",
    "train_tokenizer",
    "vocab_size",
    "word_segmentation",
    "write_held_out",
    "write_shard",
]

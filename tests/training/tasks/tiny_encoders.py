"""Encoders with tiny tokenizers of each kind."""

from functools import cache

from training.data.special_tokens import special_tokens
from training.data.train_tokenizer import train_tokenizer
from training.tasks.encoder import Encoder

TEXTS = [
    "the cat sat on the mat while the dog ran over the hill",
    "where did the cat sit and who ran over the hill",
    "القط جلس على السجادة في البيت الكبير",
    "Peter Blackburn of the European Commission said that Germany and Peter agreed in Brussels",
]

KINDS = ("bpe", "wordpiece", "unigram", "segmented")


@cache
def tokenizer(kind: str):
    sizes = {"bpe": 300, "wordpiece": 150, "unigram": 90}
    if kind == "segmented":
        return train_tokenizer(TEXTS, "unigram", 110, segmentation="arabic")
    return train_tokenizer(TEXTS, kind, sizes[kind], lowercase=kind == "wordpiece")


def encoder(kind: str = "bpe", length: int = 32, *, double_end: bool = False, token_types: bool = False) -> Encoder:
    made = tokenizer(kind)
    return Encoder(made, special_tokens(made), length, double_end, token_types)

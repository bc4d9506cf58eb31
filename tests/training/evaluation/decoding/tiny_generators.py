"""Tiny generative models with a tokenizer, and reference decoding by full forward passes."""

from functools import cache

import numpy as np
import torch
from tokenizers import Tokenizer

from pipelines.tokenizers.tokenizer_json import vocab_size
from training.data.special_tokens import special_tokens
from training.data.tokenizer_files import plain_text_tokenizer
from training.data.train_tokenizer import train_tokenizer
from training.models.build import build_model
from training.models.options import ModelOptions

torch.set_num_threads(1)

TEXTS = ["the cat sat on the mat, and the dog did not", "a king and a queen saw the house in the street"] * 10
POSITIONS = 40


@cache
def tokenizer_of(kind: str = "bpe") -> Tokenizer:
    return train_tokenizer(TEXTS, kind, 280 if kind == "bpe" else 60, sentinels=2)


@cache
def writer(architecture: str, kind: str = "bpe", seed: int = 1):
    """Return a model with large weights, so that its predictions vary between positions."""
    tokenizer = tokenizer_of(kind)
    options = ModelOptions(
        architecture=architecture,
        num_hidden_layers=2,
        hidden_size=16,
        num_attention_heads=2,
        intermediate_size=32,
        max_position_embeddings=POSITIONS,
        dropout=0.3,
    )
    model = build_model(options, special_tokens(tokenizer), vocab_size(tokenizer), seed)
    with torch.no_grad():
        for weight in model.parameters():
            if weight.ndim >= 2:
                weight.mul_(8 if architecture != "t5" else 2)
    return model


def model_inputs(model, tokenizer: Tokenizer, prompt: str) -> tuple[list[int], list[int]]:
    """Return the inputs of the encoder (none for a decoder model) and the first tokens of the decoder."""
    ids = plain_text_tokenizer(tokenizer).encode(prompt, add_special_tokens=False).ids
    specials = special_tokens(tokenizer)
    if model.config.model_type == "t5":
        return [*ids, specials.end], [specials.pad]
    return [], [specials.end, *ids]


@torch.no_grad()
def next_logits(model, inputs: list[int], begun: list[int]) -> np.ndarray:
    model.eval()
    if inputs:
        output = model(input_ids=torch.tensor([inputs]), decoder_input_ids=torch.tensor([begun]), use_cache=False)
    else:
        output = model(input_ids=torch.tensor([begun]), use_cache=False)
    return output.logits[0, -1].double().numpy()


def reference_greedy(model, tokenizer: Tokenizer, prompt: str, tokens: int) -> list[int]:
    inputs, begun = model_inputs(model, tokenizer, prompt)
    made: list[int] = []
    while len(made) < tokens:
        made.append(int(next_logits(model, inputs, begun + made).argmax()))
        if made[-1] == special_tokens(tokenizer).end:
            break
    return made


def reference_probabilities(
    logits: np.ndarray, temperature: float, top_k: int | None, top_p: float | None
) -> np.ndarray:
    """Return the probability of each token after temperature, top-k and top-p."""
    shares = np.exp(logits / temperature - (logits / temperature).max())
    order = np.argsort(-shares, kind="stable")
    if top_k is not None:
        shares[order[top_k:]] = 0
    shares /= shares.sum()
    if top_p is not None:
        before = np.cumsum(shares[order]) - shares[order]
        shares[order[before >= top_p]] = 0
    return shares / shares.sum()

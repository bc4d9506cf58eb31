"""Objectives on real token shards, with a tokenizer and a model made for them."""

import numpy as np
import pytest
import torch

from training.counter_rng import key_of
from training.data import (
    Order,
    Sequences,
    TokenText,
    finish_text,
    special_tokens,
    train_tokenizer,
    write_shard,
)
from training.models import ModelOptions, build_model
from training.objectives import OBJECTIVES, BatchContext, make_objective, word_starts

LENGTH = 24


@pytest.fixture(scope="module")
def text(tmp_path_factory):
    random = np.random.default_rng(0)
    words = ["".join(random.choice(list("abcdefgh"), size)) for size in random.integers(2, 7, 200)]
    documents = [" ".join(random.choice(words, random.integers(5, 40))) for _ in range(150)]
    folder = str(tmp_path_factory.mktemp("text"))
    tokenizer = train_tokenizer(documents, "unigram", 120, sentinels=4)
    finish_text(folder, [write_shard(folder, "a", documents, tokenizer, 0.1)], tokenizer)
    return TokenText.open(folder)


@pytest.mark.parametrize("name", OBJECTIVES)
def test_a_model_learns_from_text(name, text):
    torch.set_num_threads(1)
    options = {"whole_words": True} if name in ("masked", "next_sentence") else {}
    objective = make_objective(name, **options)
    tokens, vocabulary = special_tokens(text.tokenizer), text.tokenizer.get_vocab_size()
    model = build_model(
        ModelOptions(
            objective.families[0], layers=1, width=16, heads=2, inner=32, positions=LENGTH, dropout=0.0,
            next_sentence=objective.sentence_head,
        ),
        tokens, vocabulary, 1,
    )  # fmt: skip
    sequences = Sequences(text.train, objective.text_length(LENGTH))
    optimizer = torch.optim.AdamW(model.parameters(), 0.01)
    means = []
    for step in range(12):
        rows = np.arange(step * 16, step * 16 + 16)
        numbers = Order(len(sequences), 1).numbers(rows)
        draw = BatchContext(sequences, numbers, rows, key_of(1), tokens, vocabulary, word_starts(text.tokenizer))
        batch = objective.batch(draw)
        assert batch["input_ids"].shape == (16, LENGTH)
        assert all(array.flags.c_contiguous for array in batch.values())
        loss = objective.loss(model, {key: torch.from_numpy(array) for key, array in batch.items()})
        mean = loss / objective.targets(batch)
        optimizer.zero_grad()
        mean.backward()
        optimizer.step()
        means.append(mean.item())
    assert np.mean(means[-3:]) < np.mean(means[:2]) - 0.1

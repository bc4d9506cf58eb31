"""Objectives on token shards: each learns from text."""

import numpy as np
import pytest
import torch

from training.data.counter_rng import derive_key
from training.data.special_tokens import special_tokens
from training.data.token_shards import finish_dataset, write_shard
from training.data.token_streams import SequenceOrder, Sequences, TokenDataset
from training.data.train_tokenizer import train_tokenizer
from training.models.build import build_model
from training.models.options import ModelOptions
from training.objectives.base import BatchContext
from training.objectives.registry import OBJECTIVES, make_objective
from training.objectives.sentence_views import SentenceViews
from training.objectives.text_pairs import TextPairs
from training.objectives.word_boundaries import word_starts

LENGTH = 24


@pytest.fixture(scope="module")
def text(tmp_path_factory):
    random = np.random.default_rng(0)
    words = ["".join(random.choice(list("abcdefgh"), size)) for size in random.integers(2, 7, 200)]
    documents = [" ".join(random.choice(words, random.integers(5, 40))) for _ in range(150)]
    folder = str(tmp_path_factory.mktemp("text"))
    tokenizer = train_tokenizer(documents, "unigram", 120, sentinels=4)
    finish_dataset(folder, [write_shard(folder, "a", documents, tokenizer, 0.1)], tokenizer)
    return TokenDataset.open(folder)


ON_SEQUENCES = [name for name, kind in OBJECTIVES.items() if not issubclass(kind, (TextPairs, SentenceViews))]


@pytest.mark.parametrize("name", ON_SEQUENCES)
def test_objective_learns_from_text(name, text):
    torch.set_num_threads(1)
    options = {"whole_word_mask": True} if name in ("masked", "next_sentence") else {}
    objective = make_objective({"name": name, **options})
    tokens, vocabulary = special_tokens(text.tokenizer), text.tokenizer.get_vocab_size()
    model = build_model(
        ModelOptions(
            architecture=objective.architectures[0],
            num_hidden_layers=1,
            hidden_size=16,
            num_attention_heads=2,
            intermediate_size=32,
            max_position_embeddings=LENGTH,
            dropout=0.0,
            next_sentence=objective.needs_next_sentence_head,
            generator_layers=1 if objective.needs_generator else None,
        ),
        tokens,
        vocabulary,
        1,
    )
    sequences = Sequences(text.train, objective.text_length(LENGTH))
    optimizer = torch.optim.AdamW(model.parameters(), 0.01)
    means = []
    for step in range(12):
        rows = np.arange(step * 16, step * 16 + 16)
        numbers = SequenceOrder(len(sequences), 1).sequence_ids(rows)
        context = BatchContext(sequences, numbers, rows, derive_key(1), tokens, vocabulary, word_starts(text.tokenizer))
        batch = objective.make_batch(context)
        assert batch["input_ids"].shape == (16, LENGTH)
        assert all(array.flags.c_contiguous for array in batch.values())
        loss = objective.loss(model, {key: torch.from_numpy(array) for key, array in batch.items()})
        mean = loss / objective.count_targets(batch)
        optimizer.zero_grad()
        mean.backward()
        optimizer.step()
        means.append(mean.item())
    assert np.mean(means[-3:]) < np.mean(means[:2]) - 0.1

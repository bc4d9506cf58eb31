"""Targets that are generated in batches, against single prompts."""

import pytest
from tiny_generators import tokenizer_of, writer

from bitcipher.errors import BitcipherError
from training.evaluation.decoding.generation import generate
from training.evaluation.decoding.options import DecodingOptions
from training.evaluation.decoding.targets import generate_targets

SOURCES = ["the cat sat", "a king", "the dog </s> did", "a queen saw the house", "the mat", "a king", "in the street"]


def test_batches_write_what_single_prompts_write(monkeypatch):
    monkeypatch.setattr("training.evaluation.decoding.targets.BATCH_SIZE", 2)
    model, tokenizer, numbers = writer("t5"), tokenizer_of(), []
    written = generate_targets(model, tokenizer, SOURCES, 10, numbers.append)
    assert written == generate(model, tokenizer, SOURCES, DecodingOptions(max_new_tokens=10))
    assert len(set(written)) > 2
    assert sum(numbers) == len(SOURCES)
    assert max(numbers) == 2
    # Shorter targets are the beginnings of longer ones.
    for long, short in zip(written, generate_targets(model, tokenizer, SOURCES, 3), strict=True):
        assert long.startswith(short)


def test_other_models_are_refused():
    with pytest.raises(BitcipherError, match="GPT2LMHeadModel cannot generate text; use a model of t5"):
        generate_targets(writer("gpt2"), tokenizer_of(), SOURCES, 3)

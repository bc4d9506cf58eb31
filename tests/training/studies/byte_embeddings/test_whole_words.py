"""Masked examples with words outside the vocabulary, and fine-tuning of the network that embeds them."""

import numpy as np
import pytest
import torch
from tokenizers import Tokenizer
from tokenizers.models import WordLevel

from bitcipher.errors import BitcipherError
from pipelines.tokenizers.tokenizer_json import vocab_size
from training.data.special_tokens import special_tokens
from training.data.train_tokenizer import train_tokenizer
from training.models.build import build_model
from training.models.options import ModelOptions
from training.models.parts import input_embeddings
from training.studies.byte_embeddings.alignment import align, aligned_tokens
from training.studies.byte_embeddings.options import AlignmentOptions
from training.studies.byte_embeddings.whole_words import WordEncoder
from training.studies.byte_embeddings.word_tuning import score_words, tune_on_words

TEXT = ["the cat sat on the mat and the dog sat on the cat"] * 20
PASSAGE = ["the", "cat", "sat", "on", "the", "mat"]
SHOWN = ["the", "cta", "sat", "on", "teh", "mat"]
IS_MASKED = np.array([False, False, True, False, False, True])


@pytest.fixture(scope="module")
def tokenizer():
    return train_tokenizer(TEXT, "wordpiece", 60, lowercase=True)


@pytest.fixture(scope="module")
def model(tokenizer):
    sizes = {"num_hidden_layers": 1, "hidden_size": 16, "num_attention_heads": 2, "intermediate_size": 16}
    options = ModelOptions(architecture="bert", max_position_embeddings=32, dropout=0.0, initializer_range=0.5, **sizes)
    return build_model(options, special_tokens(tokenizer), vocab_size(tokenizer), seed=1).eval()


@pytest.fixture(scope="module")
def embeddings(tokenizer, model):
    tokens = aligned_tokens(tokenizer)
    options = AlignmentOptions(size="small", epochs=1)
    return align(input_embeddings(model).weight[list(tokens.values())], list(tokens), options)


def encode(tokenizer, shown, *, is_whole):
    return WordEncoder(tokenizer, is_whole=is_whole).encode(
        [PASSAGE, PASSAGE[:3]], [shown, shown[:3]], [IS_MASKED, IS_MASKED[:3]]
    )


def test_correct_text_is_encoded_as_by_the_tokenizer(tokenizer):
    encoder = WordEncoder(tokenizer, is_whole=True)
    assert encoder.split("The cat,  sat") == ["the", "cat", ",", "sat"]
    batch = encode(tokenizer, PASSAGE, is_whole=True)
    text = [tokenizer.id_to_token(number) for number in batch.input_ids[0]]
    assert text == ["<s>", "the", "cat", "<mask>", "on", "the", "<mask>", "</s>"]
    assert [tokenizer.id_to_token(number) for number in batch.labels] == ["sat", "mat", "sat"]
    assert batch.positions.tolist() == [3, 6, 8 + 3]
    assert batch.attention_mask.tolist() == [[1] * 8, [1] * 5 + [0] * 3]
    assert batch.strings == ()


def test_unknown_words_have_one_position_or_one_per_token(tokenizer):
    whole, split = (encode(tokenizer, SHOWN, is_whole=is_whole) for is_whole in (True, False))
    assert whole.strings == ("cta", "teh")
    assert whole.input_ids[:, 2].tolist() == [vocab_size(tokenizer)] * 2
    assert whole.input_ids[0, 5] == vocab_size(tokenizer) + 1
    assert split.strings == ()
    spelled = [tokenizer.id_to_token(number) for number in split.input_ids[0] if number]
    assert "".join(spelled).replace("##", "") == "<s>thecta<mask>onteh<mask></s>"
    assert split.labels.tolist() == whole.labels.tolist()


def test_vectors_of_unknown_words_come_from_the_network(tokenizer, model, embeddings):
    table = input_embeddings(model).weight.detach()
    batch = encode(tokenizer, SHOWN, is_whole=True)
    rows = torch.cat([table, embeddings.embed(["cta", "teh"])])
    assert score_words(model, table, embeddings, batch).tolist() == score_words(model, rows, None, batch).tolist()


def test_only_the_network_is_fine_tuned(tokenizer, model, embeddings):
    before = {name: weight.clone() for name, weight in model.state_dict().items()}
    vectors, losses = embeddings.embed(["cta"]), []
    batches = [encode(tokenizer, SHOWN, is_whole=True)] * 30
    tuned = tune_on_words(model, embeddings, batches, 1e-3, losses.append)
    assert losses[-1] < 0.97 * losses[0]
    assert torch.equal(embeddings.embed(["cta"]), vectors)
    assert not torch.equal(tuned.embed(["cta"]), vectors)
    assert all(torch.equal(weight, before[name]) for name, weight in model.state_dict().items())
    assert all(weight.grad is None for weight in model.parameters())
    assert (
        tune_on_words(model, embeddings, [encode(tokenizer, PASSAGE, is_whole=True)], 1e-3)
        .embed(["cta"])
        .equal(vectors)
    )


def test_fine_tuning_that_diverges_is_an_error(tokenizer, model, embeddings):
    batches = [encode(tokenizer, SHOWN, is_whole=True)] * 4
    with pytest.raises(BitcipherError, match="no longer finite"):
        tune_on_words(model, embeddings, batches, 1e30)


def test_tokenizer_needs_a_mask_token():
    tokenizer = Tokenizer(WordLevel({"a": 0, "</s>": 1}, unk_token="a"))
    tokenizer.add_special_tokens(["</s>"])
    with pytest.raises(BitcipherError, match="no mask token"):
        WordEncoder(tokenizer, is_whole=True)

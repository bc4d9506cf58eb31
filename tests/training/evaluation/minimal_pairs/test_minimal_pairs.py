"""Minimal pairs: files, likelihoods against plain references, and accuracies."""

import json

import numpy as np
import pytest
import torch
from tokenizers import Tokenizer

from bitcipher.errors import BitcipherError
from pipelines.tokenizers.tokenizer_json import vocab_size
from training.data.special_tokens import special_tokens
from training.data.tokenizer_files import plain_text_tokenizer
from training.data.train_tokenizer import train_tokenizer
from training.evaluation.minimal_pairs.pair_accuracy import evaluate_pairs
from training.evaluation.minimal_pairs.pair_files import MinimalPair, read_pairs
from training.evaluation.minimal_pairs.sentence_likelihood import score_sentences
from training.models.build import build_model
from training.models.options import ModelOptions

torch.set_num_threads(1)

TEXTS = ["the cat sat on the mat, and the dog did not", "a king and a queen saw the house in the street"] * 10
SENTENCES = ["the cat sat on the mat", "a queen saw", "the dog", "the house in the street and a king"]
TOKENIZER = train_tokenizer(TEXTS, "bpe", 300)


def built(architecture, seed=1, kind="bpe"):
    tokenizer = TOKENIZER if kind == "bpe" else train_tokenizer(TEXTS, kind, 60)
    options = ModelOptions(
        architecture=architecture,
        num_hidden_layers=1,
        hidden_size=16,
        num_attention_heads=2,
        intermediate_size=32,
        max_position_embeddings=40,
        dropout=0.3,
    )
    model = build_model(options, special_tokens(tokenizer), vocab_size(tokenizer), seed)
    with torch.no_grad():
        for weight in model.parameters():
            if weight.ndim >= 2:
                weight.mul_(4)
    return model, tokenizer


@torch.no_grad()
def reference(model, tokenizer: Tokenizer, sentence: str, masked: bool) -> float:
    """Return the likelihood from one full forward pass per token."""
    special, model = special_tokens(tokenizer), model.eval()
    ids = plain_text_tokenizer(tokenizer).encode(sentence, add_special_tokens=False).ids
    total = 0.0
    for at, target in enumerate(ids):
        inputs = [special.end, *ids[:at]]
        if masked:
            inputs = [special.begin, *ids, special.end]
            inputs[at + 1] = special.mask
        output = model(input_ids=torch.tensor([inputs]))
        logits = output.get("logits", output.get("prediction_logits"))
        total += float(logits[0, at + 1 if masked else -1].double().log_softmax(-1)[target])
    return total


@pytest.mark.parametrize("architecture", ["gpt2", "opt", "bert", "roberta", "modernbert", "deberta"])
def test_likelihoods_equal_those_of_single_passes(architecture):
    model, tokenizer = built(architecture, kind="wordpiece" if architecture == "bert" else "bpe")
    expected = [reference(model, tokenizer, text, architecture not in ("gpt2", "opt")) for text in SENTENCES]
    assert score_sentences(model, tokenizer, SENTENCES) == pytest.approx(expected, rel=1e-4)


def test_probabilities_of_all_continuations_sum_to_one():
    model, tokenizer = built("gpt2")
    tokens = [tokenizer.decode([index]) for index in range(vocab_size(tokenizer))]
    plain = plain_text_tokenizer(tokenizer)
    single = [text for text in tokens if plain.encode(text, add_special_tokens=False).ids[1:] == [] and text]
    scores = score_sentences(model, tokenizer, list(dict.fromkeys(single)))
    assert 0 < np.exp(scores).sum() <= 1 + 1e-6


def test_trained_model_prefers_the_grammatical_sentence():
    model, tokenizer = built("gpt2")
    good = "the cat sat on the mat"
    special = special_tokens(tokenizer)
    ids = torch.tensor([[special.end, *plain_text_tokenizer(tokenizer).encode(good, add_special_tokens=False).ids]])
    optimizer = torch.optim.AdamW(model.parameters(), 1e-2)
    for _ in range(30):
        optimizer.zero_grad()
        model(input_ids=ids, labels=ids).loss.backward()
        optimizer.step()
    pairs = [
        MinimalPair(good, "the mat sat on the cat", "animacy"),
        MinimalPair("the dog the sat", good, "order"),
        MinimalPair(good, good, "equal"),
    ]
    animacy, order, equal, everything = evaluate_pairs(model, tokenizer, pairs)
    assert (animacy.accuracy, order.accuracy, equal.accuracy) == (100, 0, 0)
    assert (animacy.ties, equal.ties, everything.ties) == (0, 1, 1)
    assert (everything.phenomenon, everything.pairs) == ("all pairs", 3)
    assert everything.accuracy == pytest.approx(100 / 3)
    assert 0 < everything.interval[0] < everything.accuracy < everything.interval[1] < 100


def test_other_models_and_sentences_are_refused():
    model, tokenizer = built("t5")
    with pytest.raises(BitcipherError, match="T5ForConditionalGeneration gives no likelihood"):
        score_sentences(model, tokenizer, ["the cat"])
    model, tokenizer = built("roberta")
    with pytest.raises(BitcipherError, match=r"Sentence 2 has .* at most 38"):
        score_sentences(model, tokenizer, ["the cat", "the cat " * 40])


def write(file, *lines):
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))


def test_files_of_a_folder_are_read_in_order(tmp_path):
    pair = {"sentence_good": "a b", "sentence_bad": "b a", "UID": "x"}
    write(tmp_path / "two.jsonl", pair)
    write(tmp_path / "one.jsonl", pair | {"linguistics_term": "binding"}, pair)
    (tmp_path / "README").write_text("no pairs")
    assert read_pairs(str(tmp_path)) == [
        MinimalPair("a b", "b a", "binding"),
        MinimalPair("a b", "b a", "one"),
        MinimalPair("a b", "b a", "two"),
    ]
    assert read_pairs(str(tmp_path / "two.jsonl")) == [MinimalPair("a b", "b a", "two")]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{", "Line 1 of .* is not JSON"),
        ("[" * 100_000, "Line 1 of .* is not JSON"),
        ("\xff", "Line 1 of .* is not text in UTF-8"),
        ("[]", "Line 1 of .* is not a JSON object"),
        ('{"sentence_good": "a"}', "Line 1 of .* has no text in sentence_bad"),
        ('{"sentence_good": 1, "sentence_bad": "a"}', "has no text in sentence_good"),
        ("", "has no minimal pairs"),
    ],
)
def test_invalid_files_are_refused(tmp_path, line, message):
    (tmp_path / "pairs.jsonl").write_bytes(line.encode("latin-1"))
    with pytest.raises(BitcipherError, match=message):
        read_pairs(str(tmp_path / "pairs.jsonl"))
    with pytest.raises(BitcipherError):
        read_pairs(str(tmp_path / "missing.jsonl"))
    (tmp_path / "empty").mkdir()
    with pytest.raises(BitcipherError, match="has no minimal pairs"):
        read_pairs(str(tmp_path / "empty"))

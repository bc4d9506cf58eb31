"""Tokens of labeled words, and linear probes of synthetic features and of models."""

from itertools import groupby

import labeled
import numpy as np
import pytest
import torch

from bitcipher.errors import BitcipherError
from pipelines.tokenizers.tokenizer_json import vocab_size
from training.data.special_tokens import special_tokens
from training.data.train_tokenizer import train_tokenizer
from training.evaluation.probes.data import make_task
from training.evaluation.probes.tasks import read_task
from training.models.build import build_model
from training.models.options import ModelOptions
from training.studies.class_centers.layer_analysis import labeled_words as words_module
from training.studies.class_centers.layer_analysis.labeled_words import label_words, word_accuracies
from training.studies.class_centers.layer_analysis.linear_probe import probe_accuracy

torch.set_num_threads(1)

SENTENCES = [
    [("Naïve", "A"), ("cats", "N"), ("don't", "V"), (",", "P"), ("well-known", "A"), ("word", "N")],
    [("a", "D"), ("word", "N"), ("(", "P"), ("in", "I"), ("house10", "N"), (")", "P")],
]
TASK = make_task("pos", SENTENCES, SENTENCES[:1], SENTENCES[1:], has_spans=False)
TEXTS = [" ".join(word.lower() for word, _ in sentence) for sentence in SENTENCES] * 9


def tokens_read(words, batch: int):
    return words.batches[batch]["input_ids"].ravel()[words.offsets[batch]]


@pytest.mark.parametrize("kind", ["bpe", "wordpiece", "unigram"])
@pytest.mark.parametrize("architecture", ["gpt2", "roberta", "t5"])
def test_word_is_represented_by_last_token(kind, architecture):
    tokenizer = train_tokenizer(TEXTS, kind, 290 if kind == "bpe" else 60)
    words = label_words(TASK.train, TASK, tokenizer, architecture, 100)
    expected = [(word.lower(), label) for sentence in SENTENCES for word, label in sentence]
    assert [TASK.labels[label] for label in words.labels] == [label for _, label in expected]
    for token, (word, _) in zip(tokens_read(words, 0), expected, strict=True):
        assert word.endswith(tokenizer.decode([int(token)]).strip().removeprefix("##").lstrip("\ufffd"))
        assert tokenizer.decode([int(token)]).strip()


@pytest.mark.parametrize(("architecture", "before", "after"), [("gpt2", 1, 0), ("bert", 1, 1), ("t5", 0, 1)])
def test_long_sentences_are_truncated_and_rows_padded(architecture, before, after):
    tokenizer = train_tokenizer(TEXTS, "wordpiece", 60)
    specials = special_tokens(tokenizer)
    whole = label_words(TASK.train, TASK, tokenizer, architecture, 100)
    (batch,) = whole.batches
    for row, mask in zip(batch["input_ids"], batch["attention_mask"], strict=True):
        length = mask.sum()
        assert (row[length:] == specials.pad).all()
        assert (row[length - after : length] == specials.end).all()
        assert row[:before].tolist() == [specials.end if architecture == "gpt2" else specials.begin][:before]
    cut = label_words(TASK.train, TASK, tokenizer, architecture, 8)
    assert cut.batches[0]["input_ids"].shape[1] == 8
    assert (cut.batches[0]["attention_mask"] == 1).all()
    assert 0 < len(cut.labels) < len(whole.labels)


def test_words_without_token_are_dropped():
    tokenizer = train_tokenizer(["word word cats cats"] * 5, "wordpiece", 30)
    task = make_task("pos", [[("\u200d", "X"), ("word", "N")]], SENTENCES, SENTENCES, has_spans=False)
    assert [task.labels[label] for label in label_words(task.train, task, tokenizer, "bert", 9).labels] == ["N"]
    nothing = make_task("pos", [[("\u200d", "X")]], SENTENCES, SENTENCES, has_spans=False)
    with pytest.raises(BitcipherError, match="no token for any word of the task pos"):
        label_words(nothing.train, nothing, tokenizer, "bert", 9)


def test_large_split_is_reduced_to_evenly_spaced_sentences(monkeypatch):
    tokenizer = train_tokenizer(TEXTS, "bpe", 290)
    sentences = [[(f"word{number}", "N")] * 4 for number in range(50)]
    task = make_task("pos", sentences, sentences, sentences, has_spans=False)
    monkeypatch.setattr(words_module, "MAX_WORDS", 100)
    words = label_words(task.train, task, tokenizer, "gpt2", 40)
    assert len(words.labels) == 100
    assert [batch["input_ids"].shape[0] for batch in words.batches] == [25]


def test_linear_probe_learns_linear_labels_and_not_noise():
    random = np.random.default_rng(0)
    labels = random.integers(3, size=600)
    output = 1000 * np.eye(3, 8)[labels] + random.normal(size=(600, 8))  # features of any scale
    half = (labels[:300], labels[300:])
    assert probe_accuracy(output[:300], half[0], output[300:], half[1]) == 1.0
    noise = random.normal(size=(600, 8))
    assert 0.2 < probe_accuracy(noise[:300], half[0], noise[300:], half[1]) < 0.47
    assert probe_accuracy(noise[:300], half[0], noise[300:], half[1]) == probe_accuracy(
        noise[:300], half[0], noise[300:], half[1]
    )
    with pytest.raises(BitcipherError, match="same label"):
        probe_accuracy(noise, np.zeros(600, int), noise, labels)


def test_probe_finds_labels_in_embeddings(tmp_path):
    task = read_task("pos", str(labeled.write_gum(tmp_path / "gum", 120)))
    texts = [" ".join(task.words[n] for n in group) for group in _by_sentence(task.train)]
    tokenizer = train_tokenizer(texts, "wordpiece", 200)
    options = ModelOptions(
        architecture="gpt2",
        num_hidden_layers=2,
        hidden_size=16,
        num_attention_heads=2,
        intermediate_size=32,
        max_position_embeddings=64,
        dropout=0.1,
    )
    model = build_model(options, special_tokens(tokenizer), vocab_size(tokenizer), 1).eval()
    parts = [label_words(part, task, tokenizer, "gpt2", 64) for part in (task.train, task.test)]
    before = word_accuracies(model, *parts)
    assert before.shape == (3,)
    with torch.no_grad():  # add the usual label of each word to its embedding
        for word in task.words:
            ids = tokenizer.encode(word, add_special_tokens=False).ids
            usual = int(word.removeprefix("word")) % len(labeled.TAGS)
            assert len(ids) >= 1
            if len(ids) == 1:
                model.transformer.wte.weight[ids[0], usual] += 5.0
    output = word_accuracies(model, *parts)
    assert output[0] > 0.85  # a tenth of the labels are unusual
    assert before[0] < output[0]
    assert np.array_equal(output, word_accuracies(model, *parts))


def _by_sentence(split):
    pairs = zip(split.sentences.tolist(), split.words.tolist(), strict=True)
    return [[word for _, word in group] for _, group in groupby(pairs, key=lambda pair: pair[0])]

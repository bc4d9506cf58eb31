"""Classes of embeddings against plain references, and the parts of labeled sentences."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bitcipher.errors import BitcipherError
from training.studies.class_centers.sentence_embeddings.class_accuracy import (
    accuracy_table,
    measure_classes,
    most_frequent_accuracy,
)
from training.studies.class_centers.sentence_embeddings.labeled_sentences import read_sentences, split_sentences


@given(st.integers(0, 1000), st.integers(4, 20), st.integers(1, 8))
def test_nearest_center_is_that_of_a_loop(seed, n_train, n_test):
    random = np.random.default_rng(seed)
    labels = np.array(["a", "b", "c", "d"])
    train, test = (random.normal(size=(number, 3)).astype(np.float32) for number in (n_train, n_test))
    train_labels, test_labels = labels[np.arange(n_train) % 3], labels[random.integers(0, 4, n_test)]
    centers = {label: train[train_labels == label].mean(axis=0) for label in "abc"}
    nearest = [min(centers, key=lambda label: np.square(row - centers[label]).sum()) for row in test]
    expected = np.mean([found == label for found, label in zip(nearest, test_labels, strict=True)])
    found = measure_classes(train, train_labels, test, test_labels)
    assert found.nearest_center == pytest.approx(100 * expected)


def test_probe_finds_classes_that_centers_do_not():
    random = np.random.default_rng(0)
    rows = random.normal(size=(400, 2)) * (20, 0.5)
    rows[:, 1] += np.where(np.arange(400) % 2, 2, -2)
    labels = np.where(np.arange(400) % 2, "up", "down")
    found = measure_classes(rows[:200], labels[:200], rows[200:], labels[200:])
    assert found.linear_probe > 99
    assert found.nearest_center < 90


def test_most_frequent_label_and_table():
    train, test = np.array(["a", "b", "b"]), np.array(["b", "a", "c", "b"])
    assert most_frequent_accuracy(train, test) == 50
    found = measure_classes(np.eye(3, dtype=np.float32), train, np.eye(4, 3, dtype=np.float32), test)
    table = accuracy_table({"model": {"label": found}}, {"label": 50.0})
    assert "| model |" in table
    assert "| most frequent label | 50.0 | 50.0 |" in table


def test_parts_are_disjoint_and_equal_texts_are_in_one(tmp_path):
    rows = [{"text": f"text {number % 90}", "coarse": str(number % 2), "fine": str(number)} for number in range(180)]
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    sentences = read_sentences([str(tmp_path / "rows.jsonl")], "text", ["coarse", "fine"])
    train, test = split_sentences(sentences)
    assert sorted([*train.labels["fine"], *test.labels["fine"]]) == sorted(row["fine"] for row in rows)
    assert not set(train.texts) & set(test.texts)
    assert 10 < len(test.texts) < 70
    for part in (train, test):
        assert all(rows[int(fine)]["text"] == text for text, fine in zip(part.texts, part.labels["fine"], strict=True))
    with pytest.raises(BitcipherError, match="1 sentences are too few"):
        split_sentences(sentences.take(np.array([0])))

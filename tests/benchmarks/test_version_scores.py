"""Scores of versions: rotations, points lost by old probes, records that are kept, and the table."""

import numpy as np
import pytest
from compare_versions import rows
from version_scores import EvaluationSets, Key, Record, load_units, median_cosine, rotate, score_versions

from bitcipher.vectors.cipher_vectors import CipherVectors
from training.evaluation.probes.data import make_task

WORDS = [f"{letter}{number}" for letter in "abcd" for number in range(10)]
LABELS = {"a": "NOUN", "b": "VERB", "c": "ADJ", "d": "ADV"}


@pytest.fixture(scope="module")
def table() -> CipherVectors:
    """Vectors of which words of one label are similar."""
    random = np.random.default_rng(1)
    centers = {letter: random.normal(size=16) for letter in LABELS}
    rows = np.array([centers[word[0]] + 0.3 * random.normal(size=16) for word in WORDS], np.float32)
    return CipherVectors([*WORDS, "<oov>"], np.vstack([rows, np.ones(16, np.float32)]))


@pytest.fixture
def folders(tmp_path, table):
    """Folders of three versions: the second one has other axes, and the third one is the second one."""
    rotation = np.linalg.qr(np.random.default_rng(2).normal(size=(16, 16)))[0].astype(np.float32)
    tables = [table, CipherVectors(table.words, 3 * table.vectors @ rotation)]
    for number, each in enumerate([*tables, tables[1]], 1):
        each.save(tmp_path / str(number))
    return {number: str(tmp_path / str(number)) for number in (1, 2, 3)}


@pytest.fixture
def sets(tmp_path):
    """A task whose label is that of the word, word pairs, and questions."""
    sentences = [[(word, LABELS[word[0]])] for word in WORDS]
    pairs, questions = tmp_path / "pairs.txt", tmp_path / "questions.txt"
    pairs.write_text("a0\ta1\t9\na0\tb1\t1\nc2\tc3\t8\nc2\td3\t2\n")
    questions.write_text(": all\na0 b0 a1 b1\n")
    return EvaluationSets([make_task("pos", sentences, sentences, sentences, False)], [str(pairs)], str(questions))


def test_a_rotation_is_undone(folders):
    first, second = load_units(folders[1]), load_units(folders[2])
    assert "<oov>" not in first
    assert median_cosine(first, second) < 0.9
    assert median_cosine(first, rotate(second, first)) == pytest.approx(1, abs=1e-5)
    assert median_cosine(second, rotate(first, second)) == pytest.approx(1, abs=1e-5)


def test_old_probes_lose_nothing_in_the_same_axes(folders, sets, tmp_path):
    records = score_versions({"kept": folders}, 2, sets, tmp_path / "scores.jsonl")
    assert set(records) == {Key("kept", version, seed) for version in (1, 2, 3) for seed in (None, 0, 1)}
    for seed in (0, 1):
        turned, same = records[Key("kept", 1, seed)], records[Key("kept", 2, seed)]
        assert turned.own == turned.following["rotated"] == {"POS accuracy": 100}
        assert turned.following["as they are"]["POS accuracy"] < 90
        assert same.own == same.following["as they are"]


def test_records_are_kept(folders, sets, tmp_path):
    file = tmp_path / "scores.jsonl"
    records = score_versions({"kept": folders}, 1, sets, file)
    lines = file.read_text().splitlines(keepends=True)
    file.write_text("".join(lines[:3]))
    assert score_versions({"kept": folders}, 1, sets, file) == records
    assert file.read_text() == "".join(lines)
    for folder in folders.values():
        (tmp_path / folder / "vectors.safetensors").unlink()
    assert score_versions({"kept": folders}, 1, sets, file) == records


def test_table_has_medians_and_ranges():
    def record(lost, cosine, own):
        scores = {"POS accuracy": own, "NER accuracy": own, "NER span F1": own, "similarity": own, "analogies": own}
        later = {name: own - lost for name in scores} | {"cosine": cosine}
        return Record(scores, {"as they are": later, "rotated": later})

    records = {
        Key(name, version, seed): record(version / 10, 1 - version / 100, 50 + version)
        for seed in (None, 0)
        for name in ("kept", "fresh", "skip-gram")
        for version in range(1, 13)
    }
    first, *_, last = rows(records)
    assert first[:4] == ["1 %", "kept axes", "10", "0.945 (0.900 – 0.990)"]
    assert first[4] == "0.55 (0.10 – 1.00)"
    assert first[7] == "1.55 (1.10 – 2.00)"
    assert first[10] == "56.50 (52.00 – 61.00)"
    assert last[:5] == ["10 %", "skip-gram, rotated", "1", "0.890", "1.10"]

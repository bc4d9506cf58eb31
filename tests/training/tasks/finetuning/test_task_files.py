import gzip
import shutil

import numpy as np
import pytest
from tiny_tasks import write_task

from bitcipher.errors import BitcipherError
from training.tasks.finetuning.task_files import read_task


def test_squad_file_names_with_suffix(tmp_path):
    folder = write_task(tmp_path / "squad", "squad", 10)
    (folder / "dev-v1.1.json").rename(folder / "dev-v1.1.small.json")
    task = read_task("squad", str(folder))
    assert (task.name, len(task.train), len(task.validation)) == ("SQuAD 1.1", 10, 5)


def test_missing_or_ambiguous_squad_files_raise(tmp_path):
    folder = write_task(tmp_path / "squad", "squad", 10)
    with pytest.raises(BitcipherError, match="found none; its files are those of --task squad"):
        read_task("squad2", str(folder))
    with pytest.raises(BitcipherError, match=r"found none\."):
        read_task("squad", str(tmp_path))
    alone = tmp_path / "alone"
    alone.mkdir()
    shutil.copy(folder / "train-v1.1.json", alone)
    with pytest.raises(BitcipherError, match=r"dev-v1.1….json or .json.gz, found none\."):
        read_task("squad", str(alone))
    shutil.copy(folder / "dev-v1.1.json", folder / "dev-v1.1.copy.json")
    with pytest.raises(BitcipherError, match=r"found dev-v1.1.copy.json and dev-v1.1.json"):
        read_task("squad", str(folder))


def test_vocabulary_of_other_task_raises(tmp_path):
    with pytest.raises(BitcipherError, match="`vocabulary` needs a sentence task"):
        read_task("squad", str(tmp_path), "words.txt")


def test_read_entities_task(tmp_path):
    task = read_task("entities", str(write_task(tmp_path / "entities", "entities", 10)))
    assert task.labels == ("O", "I-LOC", "I-PER")


def test_read_classes_of_texts(tmp_path):
    (tmp_path / "train.tsv").write_text("label\ttext\nplace\twhere is it\nperson\twho is it\nplace\twhere am I\n")
    with gzip.open(tmp_path / "dev.jsonl.gz", "wt") as lines:
        lines.write('{"text": "who am I", "label": "person", "more": 1}\n')
    task = read_task("classes", str(tmp_path))
    assert (task.name, task.kind, task.labels) == ("classes", "classification", ("person", "place"))
    assert [(example.first, example.label) for example in task.train] == [
        ("where is it", 1),
        ("who is it", 0),
        ("where am I", 1),
    ]
    assert task.score(np.array([0])) == {"accuracy": 100.0}
    assert task.baselines()["most frequent label"].tolist() == [1]


def test_invalid_classes_of_texts_raise(tmp_path):
    train, dev = "text\tlabel\na\tb\nc\td\n", "text\tlabel\na\tb\n"
    for number, (files, fact) in enumerate(
        (
            ({"train.tsv": train}, "exactly one table dev .* found none"),
            ({"train.tsv": train, "dev.tsv": dev, "dev.json": dev}, "found dev.json and dev.tsv"),
            ({"train.tsv": dev, "dev.tsv": dev}, "fewer than two labels"),
            ({"train.tsv": train, "dev.tsv": "text\tlabel\na\tx\n"}, "The label 'x' occurs in dev"),
            ({"train.tsv": "text\tlabel\n", "dev.tsv": dev}, "has no examples"),
            ({"train.tsv": train, "dev.csv": dev}, "is not a table"),
            ({"train.tsv": "text\tclass\na\tb\n", "dev.tsv": dev}, "names no column label"),
        )
    ):
        folder = tmp_path / str(number)
        folder.mkdir()
        for name, content in files.items():
            (folder / name).write_text(content)
        with pytest.raises(BitcipherError, match=fact):
            read_task("classes", str(folder))

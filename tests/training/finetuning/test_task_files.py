import shutil

import pytest
from tiny_tasks import write_task

from bitcipher.errors import BitcipherError
from training.finetuning.task_files import read_task


def test_squad_file_names_with_suffix(tmp_path):
    folder = write_task(tmp_path / "squad", "squad", 10)
    (folder / "dev-v1.1.json").rename(folder / "dev-v1.1.small.json")
    task = read_task("squad", str(folder))
    assert (task.name, len(task.train), len(task.validation)) == ("SQuAD 1.1", 10, 5)


def test_missing_or_ambiguous_squad_files_raise(tmp_path):
    folder = write_task(tmp_path / "squad", "squad", 10)
    with pytest.raises(BitcipherError, match="found none"):
        read_task("squad2", str(folder))
    shutil.copy(folder / "dev-v1.1.json", folder / "dev-v1.1.copy.json")
    with pytest.raises(BitcipherError, match=r"found dev-v1.1.copy.json and dev-v1.1.json"):
        read_task("squad", str(folder))


def test_vocabulary_of_other_task_raises(tmp_path):
    with pytest.raises(BitcipherError, match="`vocabulary` needs a sentence task"):
        read_task("squad", str(tmp_path), "words.txt")


def test_read_entities_task(tmp_path):
    task = read_task("entities", str(write_task(tmp_path / "entities", "entities", 10)))
    assert task.labels == ("O", "I-LOC", "I-PER")

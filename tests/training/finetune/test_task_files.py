import shutil

import pytest
from tiny_tasks import write_task

from bitcipher.errors import BitcipherError
from training.finetune.task_files import open_task


def test_squad_files_may_be_named_after_what_they_hold(tmp_path):
    folder = write_task(tmp_path / "squad", "squad", 10)
    (folder / "dev-v1.1.json").rename(folder / "dev-v1.1.small.json")
    task = open_task("squad", str(folder))
    assert (task.name, len(task.train), len(task.validation)) == ("SQuAD 1.1", 10, 5)


def test_squad_files_that_are_missing_or_several_are_a_plain_sentence(tmp_path):
    folder = write_task(tmp_path / "squad", "squad", 10)
    with pytest.raises(BitcipherError, match=r"one file train-v2\.0….json, plain or gzip, and there is none"):
        open_task("squad2", str(folder))
    shutil.copy(folder / "dev-v1.1.json", folder / "dev-v1.1.copy.json")
    with pytest.raises(BitcipherError, match=r"and there are dev-v1\.1\.copy\.json and dev-v1\.1\.json"):
        open_task("squad", str(folder))


def test_only_sentences_are_kept_to_a_vocabulary(tmp_path):
    with pytest.raises(BitcipherError, match=r"Only tasks of sentences can .* .cola, .* not squad"):
        open_task("squad", str(tmp_path), "words.txt")


def test_entities_are_read(tmp_path):
    task = open_task("entities", str(write_task(tmp_path / "entities", "entities", 10)))
    assert task.labels == ("O", "I-LOC", "I-PER")
